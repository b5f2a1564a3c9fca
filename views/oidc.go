package views

// Leave sends somebody to a provider that signs them in.
type Leave struct {
	Page
	Provider string // its name
	URL      string
}

// SignInFailed says why a provider's sign-in did not work.
type SignInFailed struct {
	Page
	Provider string
	Message  string
}
