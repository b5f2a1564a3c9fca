package api

// Embed is the registration of an app that shows cards to its own users.
type Embed struct {
	ID          string   `json:"id"`
	ProjectID   string   `json:"project_id"`
	Name        string   `json:"name"`
	Agents      []string `json:"agents,omitempty"` // none: all of the project
	Permission  string   `json:"permission"`       // read or resolve
	Origins     []string `json:"origins"`          // of the pages that may hold the frame
	OpenInSayso bool     `json:"open_in_sayso"`    // Allow is a link to the dashboard
	Enabled     bool     `json:"enabled"`
	CreatedAt   Time     `json:"created_at"`
	UpdatedAt   Time     `json:"updated_at"`
}

// EmbedBody is how one embed comes.
type EmbedBody struct {
	Embed Embed `json:"embed"`
}

// NewEmbed registers an app. Permission is read if it is left out, and Enabled true.
type NewEmbed struct {
	Name        string   `json:"name"`
	Agents      []string `json:"agents,omitempty"`
	Permission  string   `json:"permission,omitempty"`
	Origins     []string `json:"origins"`
	OpenInSayso bool     `json:"open_in_sayso,omitempty"`
	Enabled     *bool    `json:"enabled,omitempty"`
}

// EmbedPatch changes an embed; what is left out stays.
type EmbedPatch struct {
	Name        *string   `json:"name,omitempty"`
	Agents      *[]string `json:"agents,omitempty"`
	Permission  *string   `json:"permission,omitempty"`
	Origins     *[]string `json:"origins,omitempty"`
	OpenInSayso *bool     `json:"open_in_sayso,omitempty"`
	Enabled     *bool     `json:"enabled,omitempty"`
}

// NewEmbedToken vouches for one person of an app.
type NewEmbedToken struct {
	Subject       string   `json:"subject"` // the app's own id of the person
	Name          string   `json:"name"`    // what the app calls them
	Permission    string   `json:"permission,omitempty"`
	Agents        []string `json:"agents,omitempty"`
	Origin        string   `json:"origin"` // of the page that will hold the frame
	ExpiresInSecs *int     `json:"expires_in_secs,omitempty"`
}

// EmbedToken is good for one session.
type EmbedToken struct {
	Token     string `json:"token"`
	ExpiresAt Time   `json:"expires_at"`
}
