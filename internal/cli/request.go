package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/api"
)

const (
	createWithin   = 20 * time.Second
	withdrawWithin = 5 * time.Second
)

// request is one request to a person, as its flags describe it.
type request struct {
	*program
	agent, workflow, wait string
	timeout               seconds

	client  *api.Client
	agentID string
	id      string // of the interaction, once it is there
}

// flags declares what every request has.
func (r *request) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.agent, "agent", "", "which agent asks (env SAYSO_MCP_AGENT_ID, ANIMUS_MCP_AGENT_ID; default agent)")
	f.StringVar(&r.workflow, "workflow-id", "", "workflow that asks (env SAYSO_MCP_WORKFLOW_ID, ANIMUS_MCP_WORKFLOW_ID)")
	f.StringVar(&r.wait, "wait", "", "block: wait here; suspend or poll: print the id, exit with 75 (default block; suspend with a workflow)")
	f.Var(&r.timeout, "timeout-secs", "when nobody answered, give up after this many seconds, 1 to 3600 (default 600 with block)")
	_ = cmd.RegisterFlagCompletionFunc("wait", cobra.FixedCompletions([]string{"block", "suspend", "poll"}, cobra.ShellCompDirectiveNoFileComp))
}

// seconds is the value of --timeout-secs; 0: it was not given.
type seconds int

func (s *seconds) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 3600 {
		return errors.New("allowed are whole seconds from 1 to 3600")
	}
	*s = seconds(n)
	return nil
}

func (s *seconds) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.Itoa(int(*s))
}

func (s *seconds) Type() string { return "seconds" }

// pinned is the first of a flag's value and some environment variables that is not blank.
func pinned(value string, env ...string) string {
	for _, name := range env {
		if strings.TrimSpace(value) != "" {
			break
		}
		value = os.Getenv(name)
	}
	return strings.TrimSpace(value)
}

// put asks a person, and waits for the end unless it was told not to. An interaction that comes without an error was answered,
// or has the decision of a policy.
func (r *request) put(ctx context.Context, ask api.NewInteraction) (i api.Interaction, err error) {
	if ask, err = r.complete(ask); err != nil {
		return i, err
	}
	if r.client, err = r.program.client(agentKey); err != nil {
		return i, err
	}
	if i, err = r.create(ctx, ask); err != nil {
		return i, err
	}
	if i.Policy != nil {
		return i, nil
	}
	r.notice("answer at %s", r.client.Link("/projects/default/interactions/"+i.ID))
	if ask.WaitMode != "block" {
		return i, r.pending(i)
	}
	if i, err = r.await(ctx); err != nil {
		return i, err
	}
	return i, unanswered(i)
}

// complete adds who asks, and how long it waits.
func (r *request) complete(ask api.NewInteraction) (api.NewInteraction, error) {
	r.agent = pinned(r.agent, "SAYSO_MCP_AGENT_ID", "ANIMUS_MCP_AGENT_ID")
	if r.agent == "" {
		r.agent = "agent"
	}
	ask.WorkflowID = pinned(r.workflow, "SAYSO_MCP_WORKFLOW_ID", "ANIMUS_MCP_WORKFLOW_ID")
	ask.WaitMode = r.mode(ask.WorkflowID != "")
	secs := int(r.timeout)
	if ask.WaitMode == "suspend" && secs > 0 {
		return ask, badInput("", "--timeout-secs: a suspended request never expires; leave it out, or use --wait block or poll")
	}
	if ask.WaitMode == "block" && secs == 0 {
		secs = 600
	}
	if secs > 0 {
		ask.TimeoutSecs = &secs
	}
	return ask, nil
}

// mode is how it waits: as asked for, if that means something.
func (r *request) mode(inWorkflow bool) string {
	otherwise := "block"
	if inWorkflow {
		otherwise = "suspend"
	}
	switch mode := strings.TrimSpace(r.wait); {
	case mode == "block", mode == "poll", mode == "suspend" && inWorkflow:
		return mode
	case mode == "suspend":
		r.notice("warning: --wait suspend needs a workflow to pause (--workflow-id or SAYSO_MCP_WORKFLOW_ID); waiting here instead")
	case mode != "":
		r.notice("warning: --wait: %q is unknown, allowed are block, suspend and poll; taking %s", mode, otherwise)
	}
	return otherwise
}

// create asks, once. A connection that breaks leaves open whether the request was recorded, so it is made again, under the same key, until
// that is known.
func (r *request) create(ctx context.Context, ask api.NewInteraction) (i api.Interaction, err error) {
	agent, err := r.findAgent(ctx)
	if err != nil && ctx.Err() != nil {
		return i, fail(exitInterrupted, "", "interrupted; nothing was recorded")
	}
	if err != nil {
		return i, r.refused(err)
	}
	once := rand.Text()
	try := func() error {
		i, err = r.createOnce(ctx, agent.ID, once, ask)
		return err
	}
	if try() != nil && api.Unreachable(err) && !api.NeverSent(err) {
		err = r.untilKnown(ctx, err, try)
	}
	r.agentID, r.id = agent.ID, i.ID
	return i, r.refused(err)
}

// findAgent is the agent that asks: the one named, or the one that the key is bound to, which may make no other.
func (r *request) findAgent(ctx context.Context) (api.Agent, error) {
	agent, err := r.client.CreateAgent(ctx, api.NewAgent{Name: r.agent, Key: r.agent})
	var e *api.Error
	if errors.As(err, &e) && e.Status == http.StatusForbidden {
		if me, meErr := r.client.Me(ctx); meErr == nil && me.AgentID != "" {
			return api.Agent{ID: me.AgentID}, nil
		}
	}
	return agent, err
}

// createOnce is not broken off by an interrupt: what is recorded must be known, so that it can be withdrawn.
func (r *request) createOnce(ctx context.Context, agent, once string, ask api.NewInteraction) (api.Interaction, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), createWithin)
	defer stop()
	return r.client.CreateInteraction(ctx, agent, once, ask)
}

// untilKnown tries again after err until a server says yes or no.
func (r *request) untilKnown(ctx context.Context, err error, try func() error) error {
	trying, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	o := &outage{program: r.program, client: r.client, giveUp: giveUp}
	for err != nil && failureOf(err).exit == exitUnavailable {
		o.tried(err)
		if o.pause(trying) != nil {
			return r.unknown(ctx)
		}
		err = try()
	}
	return err
}

// unknown is the failure when nobody says whether the request was recorded.
func (r *request) unknown(ctx context.Context) error {
	const hint = "look for it there before you ask again"
	if ctx.Err() != nil {
		return fail(exitInterrupted, hint, "interrupted; whether the request was recorded at %s is not known", r.client.URL)
	}
	return fail(exitUnavailable, hint, "the server was away for %s; whether the request was recorded at %s is not known", r.patience, r.client.URL)
}

// refused is the error of a create in the words of the flags.
func (r *request) refused(err error) error {
	var e *api.Error
	if errors.As(err, &e) {
		e.Message = inFlags(e.Message)
	} else if api.Unreachable(err) {
		return noServer("no server answers at " + r.client.URL)
	}
	return err
}

// fieldFlags are the fields of the wire that a caller sets with flags.
var fieldFlags = map[string]string{
	"key": "--agent", "name": "--agent", "workflow_id": "--workflow-id", "timeout_secs": "--timeout-secs",
	"tool_call.name": "--tool", "tool_call.input": "--input",
	"request.title": "question", "request.questions[0].prompt": "question", "request.questions[0].options": "--option",
}

var optionField = regexp.MustCompile(`^request\.questions\[0\]\.options\[(\d+)\]\.label$`)

// bodyOffset is a place in the body of the call, which the caller did not write.
var bodyOffset = regexp.MustCompile(` \(at byte \d+\)$`)

// inFlags names flags where a message of the server names fields.
func inFlags(message string) string {
	field, rest, _ := strings.Cut(message, ": ")
	if flag, ok := fieldFlags[field]; ok {
		return flag + ": " + rest
	}
	if inner, ok := strings.CutPrefix(field, "tool_call.input."); ok {
		return "--input: " + inner + ": " + bodyOffset.ReplaceAllString(rest, "")
	}
	if match := optionField.FindStringSubmatch(field); match != nil {
		index, _ := strconv.Atoi(match[1])
		return fmt.Sprintf("--option: number %d: %s", index+1, rest)
	}
	return message
}

// pending tells the id of a request that is left open.
func (r *request) pending(i api.Interaction) error {
	var err error
	if r.json {
		err = r.success(outcome{Interaction: i})
	} else {
		err = r.resultLine(i.ID)
	}
	if err != nil {
		return err
	}
	return ended(exitPending)
}

// await waits for the end.
func (r *request) await(ctx context.Context) (api.Interaction, error) {
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	o := &outage{program: r.program, client: r.client, giveUp: giveUp}
	i, err := r.client.Await(waiting, r.agentID, r.id, o.tried)
	switch {
	case err == nil:
		return i, nil
	case context.Cause(waiting) == errAway:
		return i, fail(exitUnavailable, "start it with `sayso serve`, and look at "+r.id+" there",
			"the server was away for %s; %s is recorded, and its answer will be kept", r.patience, r.id)
	case ctx.Err() != nil:
		return i, r.withdraw(ctx)
	}
	f := failureOf(err)
	return i, fail(f.exit, f.hint, "waiting for %s: %s", r.id, f.what)
}

// withdraw takes the request back, because nobody waits for its answer any more.
func (r *request) withdraw(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), withdrawWithin)
	defer stop()
	_, err := r.client.Cancel(ctx, r.agentID, r.id)
	var late *api.Error
	switch {
	case err == nil:
		return fail(exitInterrupted, "", "interrupted; %s was withdrawn", r.id)
	case errors.As(err, &late) && late.Interaction != nil:
		return fail(exitInterrupted, "", "interrupted; %s was %s before that", r.id, late.Interaction.State)
	}
	return fail(exitInterrupted, "", "interrupted; %s could not be withdrawn, and stays open until its deadline (%s)", r.id, err)
}
