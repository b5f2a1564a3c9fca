// Package arch holds tests only: they read the source and fail when a rule of the house is broken.
//
// The rules are in arch_test.go, each with its reason. A package that has no rule fails, and so does a rule about a package that is
// gone, so the list says what is true.
package arch
