// Package views is what people see: templ components, and the view models they take.
//
// A component gets everything from its model; it reads no request, no clock and no store, so the page, the htmx reply and
// the pushed frame are the same bytes, and the gallery can show every state. Whatever an agent wrote has the type
// [display.Text]: the compiler refuses a raw string in its place. Package web maps the domain to these models.
package views
