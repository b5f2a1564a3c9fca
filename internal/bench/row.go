package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Row is one figure.
type Row struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"` // of the product
	Unit    string  `json:"unit"`
	Against float64 `json:"against"` // of the baseline; 0: there is none, and Ratio is the value itself
	Ratio   float64 `json:"ratio"`
	Target  float64 `json:"target"`
	Met     bool    `json:"met"`

	atLeast bool   // the target is a least, not a most
	about   string // what is measured, and against what
}

// side measures one side of a row, once.
type side func() (float64, error)

// rounds has both sides take turns, and fills in the medians. The ratio is the median of the rounds' own, each from two measurements that were
// made one right after the other: what slows the machine for longer than that slows both. So what a round needs is prepared before both.
func (r Row) rounds(n int, prepare func() error, product, baseline side) (Row, error) {
	values, against, ratios := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		if err := prepare(); err != nil {
			return r, err
		}
		err := inTurn(i, func() (err error) { values[i], err = product(); return err },
			func() (err error) { against[i], err = baseline(); return err })
		if err != nil {
			return r, err
		}
		ratios[i] = values[i] / against[i]
	}
	r.Value, r.Against, r.Ratio = median(values), median(against), median(ratios)
	return r.judged(), nil
}

func nothing() error { return nil }

// inTurn calls both, the second one first in every other round.
func inTurn(round int, first, second func() error) error {
	if round%2 == 1 {
		first, second = second, first
	}
	if err := first(); err != nil {
		return err
	}
	return second()
}

func (r Row) judged() Row {
	r.Met = r.Ratio <= r.Target
	if r.atLeast {
		r.Met = r.Ratio >= r.Target
	}
	return r
}

func printTable(out io.Writer, rows []Row) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "row\tSayso\tagainst\tratio\ttarget\tmet\twhat")
	for _, r := range rows {
		sign, met := "≤", "yes"
		if r.atLeast {
			sign = "≥"
		}
		if !r.Met {
			met = "NO"
		}
		fmt.Fprintf(w, "%s\t%.0f %s\t%.0f\t%.2f\t%s %.2f\t%s\t%s\n", r.Name, r.Value, r.Unit, r.Against, r.Ratio, sign, r.Target, met, r.about)
	}
	w.Flush()
}
