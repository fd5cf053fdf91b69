package stream

import (
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// Text is a sentence for people that may name options of a run. In its format, {anchors} represents the option anchors.
// String replaces it by its bare name, and a command line by its flag (see [Spelling]). In an error, {anchors 100},
// {+times} and {-anchors} also advise the run with this value, with this switch and without this option: see
// [AdvisedChanges]. The zero Text is empty.
type Text struct {
	Format string
	Args   []any
}

// Option is the name of an option, as an argument of a Text. It is for sentences whose option is not known in advance.
type Option string

// Spelling returns the written form of the named option, such as "--anchors". A nil Spelling gives the bare name.
type Spelling func(option string) string

// Textf makes a Text of a format and its arguments.
func Textf(format string, args ...any) Text { return Text{format, args} }

// PlainText returns a Text that does not name any option.
func PlainText(s string) Text {
	if s == "" {
		return Text{}
	}
	return Text{"%s", []any{s}}
}

// PlainTexts returns a Text for each sentence.
func PlainTexts(sentences []string) []Text {
	texts := make([]Text, len(sentences))
	for i, s := range sentences {
		texts[i] = PlainText(s)
	}
	return texts
}

// String writes options by their bare names.
func (t Text) String() string { return t.Spell(nil) }

// optionMark is an option in a format, perhaps with a space or = and a value. A sign before the name advises to set a
// switch (+), or to leave the option out (-).
var optionMark = convert.CompilePattern(`\{([+-]?)([a-z][a-z-]*)([ =][^{}]+)?\}`)

// Spell writes the sentence. It writes options, also in arguments that are errors or Texts, in the form that spelling
// returns.
func (t Text) Spell(spelling Spelling) string { return t.spellWith(&speller{spelling: spelling}) }

func (t Text) spellWith(s *speller) string {
	args := make([]any, len(t.Args), len(t.Args)+1)
	for i, a := range t.Args {
		switch a := a.(type) {
		case error:
			args[i] = s.spellError(a)
		case Text:
			args[i] = a.spellWith(s)
		case Option:
			if args[i] = a; s.spelling != nil {
				args[i] = s.spelling(string(a))
			}
		case Correction:
			args[i] = a
			s.adviseIf(a != Correction{}, Change{Word: a})
		default:
			args[i] = a
		}
	}
	template := strings.ReplaceAll(t.Format, "%w", "%v")
	format, end := "", 0
	for _, mark := range optionMark().FindAllStringSubmatchIndex(template, -1) {
		sign, name, value := template[mark[2]:mark[3]], template[mark[4]:mark[5]], ""
		if mark[6] >= 0 {
			value = template[mark[6]:mark[7]]
		}
		shown := name
		if s.spelling != nil {
			shown = s.spelling(name)
		}
		before := format + template[end:mark[0]] + strings.ReplaceAll(shown, "%", "%%")
		format, end = before+value, mark[1]
		s.adviseIf(sign != "" || value != "", Change{Option: name, Leave: sign == "-", Value: formatPart(before, value, args)})
	}
	return fmt.Sprintf(format+template[end:], args...)
}

// formatPart formats a part of a format without its first character. The part before it consumes the first arguments.
func formatPart(before, part string, args []any) string {
	if part == "" {
		return ""
	}
	end := fmt.Sprintf("%%[%d]s", len(args)+1) // after an explicit index, fmt accepts arguments that are not used
	args = append(args, "")
	return fmt.Sprintf(before+part+end, args...)[len(fmt.Sprintf(before+end, args...))+1:]
}

// Spell returns the text of err on one line, with options in the form that spelling returns. Errors that name options
// have a Spell method. The function also finds such errors inside errors that wrap them (fmt.Errorf, errors.Join).
func Spell(err error, spelling Spelling) string {
	return (&speller{spelling: spelling}).spellError(err)
}

// speller spells options, and collects the changes that the sentences advise.
type speller struct {
	spelling Spelling
	changes  *[]Change // nil if nobody wants them
}

func (s *speller) adviseIf(isAdvice bool, c Change) {
	if isAdvice && s.changes != nil {
		*s.changes = append(*s.changes, c)
	}
}

func (s *speller) spellError(err error) string {
	if own, ok := err.(interface{ spellWith(*speller) string }); ok {
		return own.spellWith(s)
	}
	var inner []error
	switch outer := any(err).(type) {
	case interface{ Unwrap() error }:
		inner = []error{outer.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = outer.Unwrap()
	}
	var spelled strings.Builder
	rest := err.Error()
	for _, e := range inner {
		if e == nil {
			continue
		}
		if before, after, ok := strings.Cut(rest, e.Error()); ok {
			if before == "\n" { // of errors.Join: make the text one line
				before = "; "
			}
			spelled.WriteString(before + s.spellError(e))
			rest = after
		}
	}
	return spelled.String() + rest
}

// Change is a change of the options of a run, or of one of its words, that an error advises.
type Change struct {
	Option string
	Value  string // empty for a switch
	Leave  bool   // leave the option out
	Word   Correction
}

// Correction suggests a known word for an unknown one, as an argument of a [Text]. The zero Correction is empty.
type Correction struct{ Unknown, Known string }

func (c Correction) String() string {
	if c.Known == "" {
		return ""
	}
	return "; did you mean " + c.Known + "?"
}

// AdvisedChanges returns the changes with which the run that failed with err may succeed. It is empty if they depend on
// more than err knows.
func AdvisedChanges(err error) (changes []Change) {
	(&speller{changes: &changes}).spellError(err)
	return changes
}

// Errorf works as fmt.Errorf with the format of a [Text]. Arguments for %w are wrapped.
func Errorf(format string, args ...any) error {
	e := &textError{Text: Text{format, args}}
	if strings.Contains(format, "%w") {
		e.cause = fmt.Errorf(optionMark().ReplaceAllString(format, "$3"), args...)
	}
	return e
}

// textError is an error that may name options.
type textError struct {
	Text
	cause error // wraps the arguments for %w; nil if there are none
}

func (e *textError) Error() string { return e.String() }

func (e *textError) Unwrap() []error {
	switch w := any(e.cause).(type) {
	case interface{ Unwrap() error }:
		if inner := w.Unwrap(); inner != nil {
			return []error{inner}
		}
	case interface{ Unwrap() []error }:
		return w.Unwrap()
	}
	return nil
}
