package cli

import (
	"errors"
	"fmt"
	"net/http"

	"sayso/internal/api"
)

// failure is an error as it is told: what happened, and what to do.
type failure struct {
	exit       int
	what, hint string
}

func (f *failure) Error() string { return f.what }

// codes are how failures are told apart in JSON.
var codes = map[int]string{
	exitInternal: "internal", exitInput: "invalid_input", exitNotFound: "not_found", exitConflict: "conflict", exitUnavailable: "unavailable",
	exitTimedOut: "timed_out", exitCanceled: "canceled", exitInterrupted: "interrupted",
}

func fail(exit int, hint, format string, args ...any) *failure {
	return &failure{exit: exit, what: fmt.Sprintf(format, args...), hint: hint}
}

// badInput is a failure that the caller can avoid: what says which flag or argument, and what is allowed.
func badInput(hint, format string, args ...any) *failure {
	return fail(exitInput, hint, format, args...)
}

// failureOf is err as it is told.
func failureOf(err error) *failure {
	var f *failure
	var refused *api.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &refused):
		return fail(exitOf(refused.Status), hintOf(refused.Status), "%s", refused.Message)
	case api.Unreachable(err):
		return fail(exitUnavailable, "", "%s", err)
	}
	return fail(exitInternal, "", "%s", err)
}

func exitOf(status int) int {
	switch status {
	case http.StatusNotFound:
		return exitNotFound
	case http.StatusConflict:
		return exitConflict
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return exitUnavailable
	case http.StatusInternalServerError:
		return exitInternal
	}
	if status >= 400 && status < 500 {
		return exitInput
	}
	return exitInternal
}

func hintOf(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "check the key: SAYSO_KEY if it is set, else the key files in the data folder"
	case http.StatusMisdirectedRequest:
		return "check SAYSO_URL"
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "try again in a moment"
	}
	return ""
}
