package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
)

// newGuide returns the help topic about methods. It contains the descriptions that the methods themselves provide.
func newGuide() *cobra.Command {
	return &cobra.Command{
		Use:   "methods",
		Short: "Which method when: purpose and cost of each, and when random features do as well",
		Long:  guideText(),
	}
}

// methodKind is a section of the guide, for the methods that use the same statistics.
type methodKind struct {
	from  method.From
	title string
}

func guideText() string {
	var b strings.Builder
	fmt.Fprintf(&b, `Which method when. Without --method the program reads once and looks at a sample of the rows
(--graph-rows). If they have clusters that the covariances of the columns do not explain,
it takes %s. Else, and for fewer than 40 columns whose units differ, it takes %s. The scale
depends on whether the columns share a unit. The output names the choice and the reason.
docs/methods.md has the rules and their limits.

For a few columns that stand in for a table choose %[2]s; path shows what each further feature
is worth, and -k auto stops where chance begins.

Below, n rows, d features, k features chosen, and m anchors (all rows up to 2,000, else 2,000),
or for %[1]s the rows of its sample.
plan shows the cost of a method on your data. The statements on random features and on public
datasets were measured on labelled ones with k-means, at 2, 5 and 10 %% of the features:
bench/results/quality.md. If it can, select compares its choice on your data with chance, and warns.
`, methods.Recommended, methods.Fallback)
	for _, k := range []methodKind{
		{method.FromGram, "From the Gram matrix: one pass; d² numbers, or n·d of few rows"},
		{method.FromGraph, "From the anchor graph of the rows: two passes; d² + m·d + m² numbers, or n·d for the first"},
		{method.FromRows, "From the rows, again and again: a seeded sample of them (--sample) in memory, or scratch files"},
		{method.FromProfile, "From the spread of each column: one pass; a few numbers a column"},
	} {
		fmt.Fprintf(&b, "\n%s\n", k.title)
		for _, s := range methods.All() {
			if s.From == k.from {
				writeMethodGuide(&b, s)
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func writeMethodGuide(b *strings.Builder, s method.Spec) {
	fmt.Fprintf(b, "\n  %s: %s\n", s.Name, s.About)
	for _, part := range []struct{ what, text string }{{"when", s.Guide.When}, {"time", s.Guide.Time}, {"but", s.Guide.Caution}} {
		const indent = "         "
		line := fmt.Sprintf("    %-5s", part.what)
		for _, word := range strings.Fields(part.text) {
			if len([]rune(line))+1+len([]rune(word)) > 96 {
				b.WriteString(line + "\n")
				line = indent
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
}
