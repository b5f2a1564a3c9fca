// Package e2e tests the whole product as people and agents meet it: [sayso/internal/server.Run] on a port of its own with a real
// database, REST clients that ask, and Chromium that answers. It holds no code but tests.
//
// # How to read it
//
// product_test.go starts and stops the product, asker_test.go is the agent's side, and browser_test.go the person's: a page that is
// opened, read, clicked and typed into. Every other file is named for what it shows. A test is a story in those words, and
// [testing.T.Run] plays most stories on a phone and on a desktop.
//
// # What every page is held to
//
// A page fails its test when it logs an error, throws, violates its Content-Security-Policy, opens a dialog, or asks any other
// server for anything, whatever the story is about. What a story expects to go wrong it says before. Where a story stops to look, axe
// must find nothing, in light and in dark.
//
// Nothing here sleeps or tries again: a page is waited for by a condition in it, the server by what it answers.
//
// # Without a browser
//
// SAYSO_SKIP=browser leaves out what needs Chromium, on purpose and saying so. If Chromium is merely missing, the tests fail.
package e2e
