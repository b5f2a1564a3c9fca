package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"sayso/internal/api"
	"sayso/internal/display"
)

// table is rows under a header, in columns.
type table struct {
	header []string
	rows   [][]string
}

func (t table) print(p *program) error {
	rows := [][]string{t.header}
	for _, row := range t.rows {
		shown := make([]string, len(row))
		for n, cell := range row {
			shown[n] = display.Line(cell).String()
		}
		rows = append(rows, shown)
	}
	widths := make([]int, len(t.header))
	for _, row := range rows {
		for n, cell := range row {
			widths[n] = max(widths[n], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for n, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[n]-utf8.RuneCountInString(cell)+2))
		}
		if err := p.print(strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// print writes a line that is made of what display has shown.
func (p *program) print(line string) error {
	_, err := fmt.Fprintln(p.stdout, line)
	return err
}

// results writes result lines.
func (p *program) results(lines ...string) error {
	for _, line := range lines {
		if err := p.resultLine(line); err != nil {
			return err
		}
	}
	return nil
}

// cut shortens a text to most characters, and says so.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// age is how long ago something was, in one unit.
func age(at api.Time) string {
	switch d := max(time.Since(at.Time), 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// clock is a time as it is told here.
func clock(at api.Time) string { return at.Local().Format("2006-01-02 15:04:05") }
