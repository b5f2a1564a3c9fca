// Package views is what people see: templ components, and the view models they take.
//
// A component gets everything from its model; it reads no request, no clock and no store, so the page, the htmx reply and
// the pushed frame are the same bytes, and the gallery can show every state. Whatever an agent wrote has the type
// [display.Text]: the compiler refuses a raw string in its place. The one exception is what it says in its conversation, a [Block], which is
// Markdown until package markdown draws it. Package web maps the domain to these models.
//
// # Reading order
//
// model.go has the models. layout.templ is the frame of every page; inbox, agents, conversation, interaction, signin and error are the
// pages. timeline.templ has the entries of a conversation, composer.templ what stands below its cards. card.templ is an open card, permission.templ and question.templ are its forms, ended.templ is what it becomes. shown.templ is the
// only place that writes an agent's text, time.go and time.templ the only ones that write times. What a browser does with all this, and what it
// must never do, is in static/app.js; how it looks, in static/src/app.css.
package views
