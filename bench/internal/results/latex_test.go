package results

import (
	"strings"
	"testing"
)

// TestLaTeX: names and cells are escaped, so that LaTeX prints every character, and each row has a cell for each title.
func TestLaTeX(t *testing.T) {
	table := Table{Titles: []string{"set", "p < 5 %"}, TextColumns: 1}
	table.AddRow(`a_b&c\{x}~#$^|"d"`, "**62.3 ± 1.0**")
	table.AddRow("`--alpha 1e-3_x`", NoFigure)
	var got strings.Builder
	table.WriteLaTeX(&got)
	const want = `
\begin{tabular}{lr}
\toprule
set & p \textless{} 5 \% \\
\midrule
a\_b\&c\textbackslash{}\{x\}\textasciitilde{}\#\$\textasciicircum{}\textbar{}\textquotedbl{}d\textquotedbl{} & \textbf{62.3 $\pm$ 1.0} \\
\texttt{-{}-alpha 1e-3\_x} & -- \\
\bottomrule
\end{tabular}
`
	if got.String() != want {
		t.Errorf("LaTeX is\n%s\nwant\n%s", got.String(), want)
	}
}

func TestTableMarkdown(t *testing.T) {
	table := Table{Titles: []string{"set", "score"}, TextColumns: 1}
	table.AddRow("a|b", "1")
	var got strings.Builder
	table.WriteMarkdown(&got)
	if want := "\n| set | score |\n| --- | ---: |\n| a\\|b | 1 |\n"; got.String() != want {
		t.Errorf("Markdown is %q, want %q", got.String(), want)
	}
}
