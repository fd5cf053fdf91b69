package stream

import (
	"fmt"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/convert"
)

// Text is a sentence for people that may name options of a run. In its format, {anchors} represents the option anchors.
// String replaces it by its bare name, and a command line by its flag (see [Spelling]). The zero Text is empty.
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

var optionMark = convert.CompilePattern(`\{[a-z][a-z-]*\}`)

// Spell writes the sentence. It writes options, also in arguments that are errors or Texts, in the form that spelling
// returns.
func (t Text) Spell(spelling Spelling) string {
	format := strings.ReplaceAll(t.Format, "%w", "%v")
	format = optionMark().ReplaceAllStringFunc(format, func(mark string) string {
		name := mark[1 : len(mark)-1]
		if spelling != nil {
			name = spelling(name)
		}
		return strings.ReplaceAll(name, "%", "%%")
	})
	args := make([]any, len(t.Args))
	for i, a := range t.Args {
		switch a := a.(type) {
		case error:
			args[i] = Spell(a, spelling)
		case Text:
			args[i] = a.Spell(spelling)
		case Option:
			if args[i] = a; spelling != nil {
				args[i] = spelling(string(a))
			}
		default:
			args[i] = a
		}
	}
	return fmt.Sprintf(format, args...)
}

// Spell returns the text of err on one line, with options in the form that spelling returns. Errors that name options
// have a Spell method. The function also finds such errors inside errors that wrap them (fmt.Errorf, errors.Join).
func Spell(err error, spelling Spelling) string {
	if own, ok := err.(interface{ Spell(Spelling) string }); ok {
		return own.Spell(spelling)
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
			spelled.WriteString(before + Spell(e, spelling))
			rest = after
		}
	}
	return spelled.String() + rest
}

// Errorf works as fmt.Errorf with the format of a [Text]. Arguments for %w are wrapped.
func Errorf(format string, args ...any) error {
	e := &textError{Text: Text{format, args}}
	if strings.Contains(format, "%w") {
		e.cause = fmt.Errorf(optionMark().ReplaceAllString(format, ""), args...)
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
