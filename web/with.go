package web

import (
	"sayso/internal/display"
	"sayso/internal/interaction"
	"sayso/views"
)

// with is what may go with Allow, in words.
func (p presenter) with(i interaction.Interaction) views.With {
	w := views.With{
		ReviewURL: p.agentURL(i.AgentID) + "/interactions/" + string(i.ID) + "/review",
		WholeURL:  p.interactionURL(i.ID) + "?full=1",
		Remember:  convert(i.Remembered(), grant),
		Session:   sessionRule(i.SessionRule()),
	}
	if p.whole || len(i.ToolCall.Input) <= editedAtOnce {
		w.Input = i.ToolCall.Editable()
	}
	return w
}

func sessionRule(r interaction.SessionRule, err error) views.SessionRule {
	if err != nil {
		return views.SessionRule{Refused: interaction.AsError(err).Message}
	}
	return views.SessionRule{Tool: display.Line(r.Tool), Command: display.Line(r.Command), Redirects: r.Redirects(), Chains: r.Chains()}
}

// What an update does, by its type and behaviour. What is not here is shown as it came.
var does = map[[2]string]string{
	{"addRules", "allow"}:     "Allow without asking",
	{"addRules", "deny"}:      "Deny without asking",
	{"addRules", "ask"}:       "Always ask about",
	{"replaceRules", "allow"}: "Replace everything that is allowed without asking by",
	{"replaceRules", "deny"}:  "Replace everything that is denied without asking by",
	{"replaceRules", "ask"}:   "Replace everything that is always asked about by",
	{"removeRules", "allow"}:  "No longer allow without asking",
	{"removeRules", "deny"}:   "No longer deny without asking",
	{"removeRules", "ask"}:    "No longer always ask about",
	{"addDirectories", ""}:    "Also work in these directories",
	{"removeDirectories", ""}: "No longer work in these directories",
	{"setMode", ""}:           "Switch the permission mode to",
}

// grant puts an update into words, or shows it as it came: never less than it says.
func grant(u interaction.PermissionUpdate) views.Grant {
	words, known := does[[2]string{u.Type, u.Behavior}]
	if !known || !u.Whole {
		return views.Grant{Does: "As the agent wrote it", JSON: display.Show(string(u.Raw))}
	}
	g := views.Grant{Does: words, Names: convert(u.Directories, display.Line)}
	if u.Mode != "" {
		g.Names = append(g.Names, display.Line(u.Mode))
	}
	g.Rules = convert(u.Rules, func(r interaction.PermissionRule) views.ToolRule {
		return views.ToolRule{Tool: display.Line(r.Tool), Content: display.Line(r.Content), Every: r.Every}
	})
	return g
}
