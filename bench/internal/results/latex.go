package results

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// WriteLaTeX writes the table as a tabular of the package booktabs.
func (t *Table) WriteLaTeX(w io.Writer) {
	fmt.Fprintf(w, "\n\\begin{tabular}{%s%s}\n\\toprule\n", strings.Repeat("l", t.TextColumns), strings.Repeat("r", len(t.Titles)-t.TextColumns))
	writeLaTeXRow(w, t.Titles)
	fmt.Fprintln(w, `\midrule`)
	for _, row := range t.Rows {
		writeLaTeXRow(w, row)
	}
	fmt.Fprintf(w, "\\bottomrule\n\\end{tabular}\n")
}

func writeLaTeXRow(w io.Writer, cells []string) {
	escaped := make([]string, len(cells))
	for i, c := range cells {
		escaped[i] = FormatLaTeX(c)
	}
	fmt.Fprintf(w, "%s \\\\\n", strings.Join(escaped, " & "))
}

// escapeLaTeX has the characters that LaTeX reads as commands, and some of our texts that its usual fonts do not have.
var escapeLaTeX = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`,
	"^", `\textasciicircum{}`, "~", `\textasciitilde{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, "--", `-{}-`, `"`, `\textquotedbl{}`,
	"±", `$\pm$`, "×", `$\times$`, "✗", `$\times$`, "−", `$-$`, "–", "--", "…", `\dots{}`, "₀", `$_0$`,
	"α", `$\alpha$`, "β", `$\beta$`, "γ", `$\gamma$`, "μ", `$\mu$`, "ρ", `$\rho$`, "χ", `$\chi$`, "²", `$^2$`)

var (
	boldPattern = regexp.MustCompile(`\*\*(.*?)\*\*`)
	codePattern = regexp.MustCompile("`(.*?)`")
)

// FormatLaTeX returns text as LaTeX: special characters escaped, and Markdown's **bold** and `code` as commands.
func FormatLaTeX(text string) string {
	text = boldPattern.ReplaceAllString(escapeLaTeX.Replace(text), `\textbf{$1}`)
	return codePattern.ReplaceAllString(text, `\texttt{$1}`)
}
