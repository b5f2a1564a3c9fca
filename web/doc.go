// Package web is everything that speaks HTTP: the REST API, the pages, the sockets.
//
// # Two kinds of routes
//
// Routes under /api take keys and JSON and never look at a cookie. All others are a browser's: they take the session cookie and plain
// forms, and refuse a post from another site. Both kinds end in the same [interaction.Service]; a handler here reads what came, calls one
// method, and writes what it gave. The table of all routes is in routes.go.
//
// # Errors
//
// Handlers return errors. error.go turns each into the one form that its caller expects: the JSON body, a page, or a fragment. What is
// not an [interaction.Error] is logged and tells nothing.
//
// # Live
//
// live.go follows the store. For each committed change it loads, presents and renders once, with the components of the page itself, and
// fans the bytes out to the sockets that watch. stream.go does the same for the streams of the API: what it sends is read from the log, so a
// stream says what a page of the log says. No handler publishes.
//
// Whatever an agent wrote goes through package display on its way into a view model (present.go); the type of the models sees to that.
package web
