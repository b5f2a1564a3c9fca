package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"sayso/internal/api"
)

func (p *program) completion() *cobra.Command {
	cmd := group("completion", "Print what makes a shell complete commands, flags and ids with Tab")
	cmd.Long = `Print the script that makes a shell complete sayso's commands and flags with Tab, and the ids and keys of what waits and who asks, if a server
runs. Each shell reads it from a place of its own; the help of its command says from which.`
	cmd.AddCommand(
		shell("bash", `bash-completion must be installed and in use. For every session to come:

  mkdir -p ~/.local/share/bash-completion/completions
  sayso completion bash > ~/.local/share/bash-completion/completions/sayso

or for this one only:

  source <(sayso completion bash)`, func(root *cobra.Command) error { return root.GenBashCompletionV2(root.OutOrStdout(), true) }),
		shell("zsh", `The script goes, as _sayso, into a folder of fpath, which is to be set before compinit runs. In ~/.zshrc:

  fpath=(~/.zfunc $fpath)
  autoload -U compinit && compinit

and then, for every session to come:

  mkdir -p ~/.zfunc && sayso completion zsh > ~/.zfunc/_sayso`, func(root *cobra.Command) error { return root.GenZshCompletion(root.OutOrStdout()) }),
		shell("fish", `For every session to come:

  mkdir -p ~/.config/fish/completions
  sayso completion fish > ~/.config/fish/completions/sayso.fish

or for this one only:

  sayso completion fish | source`, func(root *cobra.Command) error { return root.GenFishCompletion(root.OutOrStdout(), true) }),
	)
	return cmd
}

func shell(name, install string, write func(root *cobra.Command) error) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: "Print the script for " + name,
		Long:  "Print the script for " + name + ".\n\n" + install,
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return write(cmd.Root()) },
	}
}

// completeWithin is how long a shell waits for what only a server knows.
const completeWithin = time.Second

// candidates completes one word by what the server knows, and by nothing if there is none or it is slow. The words are ids and keys only: they
// have no character that means anything to a shell, which what agents write may have.
func (p *program) candidates(list func(context.Context, *operator) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		o, err := p.operator()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, stop := context.WithTimeout(cmd.Context(), completeWithin)
		defer stop()
		return list(ctx, o), cobra.ShellCompDirectiveNoFileComp
	}
}

// first is candidates for the first argument, with none for those behind it.
func first(candidates cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return candidates(cmd, args, typed)
	}
}

// completeOpen offers the ids of what waits for an answer, the newest first.
func (p *program) completeOpen() cobra.CompletionFunc {
	return first(p.candidates(func(ctx context.Context, o *operator) (words []string) {
		page, _ := o.Interactions(ctx, map[string][]string{"state": {"open"}, "order": {"desc"}})
		for _, i := range page.Data {
			words = append(words, cobra.CompletionWithDesc(i.ID, i.Kind+", "+age(i.CreatedAt)))
		}
		return words
	}))
}

// completeAgents offers the keys of the agents that are not archived.
func (p *program) completeAgents() cobra.CompletionFunc {
	return p.candidates(func(ctx context.Context, o *operator) (words []string) {
		page, _ := o.Agents(ctx, map[string][]string{"state": {"active"}, "limit": {"100"}})
		for _, a := range page.Data {
			words = append(words, keyOf(a))
		}
		return words
	})
}

func keyOf(a api.Agent) string {
	if a.Key != "" {
		return a.Key
	}
	return a.ID
}
