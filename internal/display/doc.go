// Package display makes strings that an agent supplied safe and honest to
// show to the person who decides on them.
//
// An agent's words are hostile until they went through [Show] (where newlines
// are kept: a command, a context value) or [Line] (one-line places: titles,
// labels, names). The dashboard, the embed, the CLI, chat messages and exports
// all use these two, so that a person sees the same thing everywhere.
//
// # What it promises
//
//   - What comes out draws what it is. Control characters, bidirectional
//     controls, code points that draw nothing, unusual white space, private
//     use, unassigned code points and bytes that are not UTF-8 come out as
//     marks such as ⟨U+202E⟩ and ⟨\x9B⟩.
//   - Nothing is dropped. The original can be read back from the text, up to
//     CRLF (a newline) and which blanks of a shortened run were tabs.
//   - No text can forge a mark: a literal ⟨ is itself shown as ⟨U+27E8⟩.
//   - Nothing is pushed out of sight: runs of blanks become ⟨␠×400⟩.
//   - Ordinary Arabic, Hebrew, Chinese, accents and emoji read as written.
//   - The same string gives the same [Text], in time linear in its length.
//
// # Chips
//
// A [Chip] is a short warning with the text that caused it. Chips are drawn
// from the string as written and, where it hides something, also from copies
// of it without the hidden parts (bare.go), so that a zero-width space inside
// "sudo" does not silence the warning.
//
// # What it is not
//
// It does not escape HTML: templates do. It is not a filter: every string can
// be shown. Chips are not a policy and not a shell: they point at what people
// miss when they read quickly, and the absence of a chip says nothing.
//
// # Reading order
//
// text.go is the surface. rendering.go walks the string: over what is plain in
// ascii.go, by the tables of codepoint.go, with the rules of blank.go, emoji.go,
// stack.go and forgery.go. What cannot be shown goes through batch.go to the
// sheet, as the marks of mark.go.
//
// chip.go asks one file per chip. Those about commands (watch.go) share the
// lexer of token.go and cooking.go and the vocabulary of command.go. glance.go
// tells which of them are worth asking.
package display
