package api

import "context"

// PolicyDecision is what an approval policy decided about a tool call, so that nobody is asked.
type PolicyDecision struct {
	Decision string `json:"decision"` // allow or deny
	Source   string `json:"source"`
	Pattern  string `json:"pattern,omitempty"` // that matched
	Message  string `json:"message"`
}

// Policies are the approval policies of a project's agents, and how they were read.
type Policies struct {
	Config PolicyConfig `json:"config"`
	List[AgentPolicy]
}

// PolicyConfig is where policies come from. Error says why the file, as it has been since FailedAt, was not taken.
type PolicyConfig struct {
	File     string `json:"file,omitempty"`
	LoadedAt *Time  `json:"loaded_at,omitempty"`
	Error    string `json:"error,omitempty"`
	FailedAt *Time  `json:"failed_at,omitempty"`
}

// AgentPolicy is what the configuration says of one agent.
type AgentPolicy struct {
	Agent          string          `json:"agent"` // its key
	PermissionMode string          `json:"permission_mode,omitempty"`
	ApprovalPolicy *ApprovalPolicy `json:"approval_policy,omitempty"`
}

// ApprovalPolicy is a policy as it is in force.
type ApprovalPolicy struct {
	AutoAllow  []string        `json:"auto_allow"`
	AutoDeny   []string        `json:"auto_deny"`
	Default    string          `json:"default"`
	InputRules []InputRule     `json:"input_rules,omitempty"`
	Tools      map[string]Tool `json:"tools,omitempty"`
}

// InputRule looks at one field of a tool's input.
type InputRule struct {
	Tool  string   `json:"tool"`
	Field string   `json:"field"`
	Deny  []string `json:"deny,omitempty"`
	Allow []string `json:"allow,omitempty"`
}

// Tool is what the policy says of one tool.
type Tool struct {
	Permission ToolPermission `json:"permission"`
}

// ToolPermission has a mode: always_allow, always_ask or always_deny.
type ToolPermission struct {
	Mode string `json:"mode"`
}

// Policies gives the project's approval policies.
func (c *Client) Policies(ctx context.Context) (p Policies, err error) {
	return p, c.do(ctx, "GET", c.project()+"/policies", nil, &p)
}
