package views

// setting is a page of the settings.
type setting struct{ path, name string }

// settings are the pages that the person may see, in the order in which they are offered.
func (p Page) settings() (all []setting) {
	if p.MayAudit {
		all = append(all, setting{"policies", "Policies"})
	}
	if p.MayManage {
		all = append(all, setting{"members", "Members"})
		all = append(all, setting{"keys", "API keys"})
		all = append(all, setting{"embeds", "Embedding"})
	}
	return all
}

func (p Page) settingURL(path string) string {
	return p.URL("/projects/" + p.Project + "/settings/" + path)
}

func currently(here bool) string {
	if here {
		return "page"
	}
	return "false"
}
