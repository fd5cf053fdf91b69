package method

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options are the settings that a method declares, each bound to the variable that it
// sets. A declaration gives the variable its default.
type Options struct {
	list   []*Option
	checks []func(isSet func(name string) bool) error
}

// Option is one declared setting.
type Option struct {
	Name    string
	Usage   string // one line; `N` in backquotes names the value
	Syntax  string // of the value, where that wants a word
	Type    string // int, float64, bool, string, name (one of Allowed) or NUMBERS (weights)
	Default string // as text; empty where Usage says it
	Allowed []string

	parse  func(string) error
	bounds []func(text string) error
	isSet  bool
}

// All lists the options in the order of their declaration.
func (o *Options) All() []*Option { return o.list }

// Find is the option of a name, or nil.
func (o *Options) Find(name string) *Option {
	for _, opt := range o.list {
		if opt.Name == name {
			return opt
		}
	}
	return nil
}

// Check adds a rule over several options, for when all have their values.
func (o *Options) Check(rule func(isSet func(name string) bool) error) {
	o.checks = append(o.checks, rule)
}

func (o *Options) add(opt *Option) *Option {
	o.list = append(o.list, opt)
	return opt
}

// Int declares a whole number.
func (o *Options) Int(to *int, name string, value int, usage string) *Option {
	return declare(o, to, value, Option{Name: name, Usage: usage, Type: "int"}, strconv.Atoi, "want a whole number")
}

// Int64 declares a whole number that counts rows.
func (o *Options) Int64(to *int64, name string, value int64, usage string) *Option {
	parse := func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
	return declare(o, to, value, Option{Name: name, Usage: usage, Type: "int"}, parse, "want a whole number")
}

// Float declares a number.
func (o *Options) Float(to *float64, name string, value float64, usage string) *Option {
	parse := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
	return declare(o, to, value, Option{Name: name, Usage: usage, Type: "float64"}, parse, "want a number")
}

// Bool declares a switch.
func (o *Options) Bool(to *bool, name, usage string) *Option {
	return declare(o, to, false, Option{Name: name, Usage: usage, Type: "bool"}, strconv.ParseBool, "want true or false")
}

// Text declares any text.
func (o *Options) Text(to *string, name, usage string) *Option {
	return declare(o, to, "", Option{Name: name, Usage: usage, Type: "string"}, func(s string) (string, error) { return s, nil }, "")
}

// declare adds an option whose text parse reads; want says what it takes. The usage
// explains a default that is the zero value.
func declare[T comparable](o *Options, to *T, value T, opt Option, parse func(string) (T, error), want string) *Option {
	*to = value
	if value != *new(T) {
		opt.Default = fmt.Sprint(value)
	}
	opt.parse = func(s string) error {
		v, err := parse(s)
		if err != nil {
			return errors.New(want)
		}
		*to = v
		return nil
	}
	return o.add(&opt)
}

// Choice declares one of some names.
func (o *Options) Choice(to *string, name, value, usage string, allowed ...string) *Option {
	*to = value
	return o.add(&Option{Name: name, Usage: usage, Type: "name", Default: value, Allowed: allowed, parse: func(s string) error {
		if !slices.Contains(allowed, s) {
			return fmt.Errorf("want %s%s", strings.Join(allowed, ", "), suggest.DidYouMean(s, allowed))
		}
		*to = s
		return nil
	}})
}

// Weights declares a weight; a path takes several.
func (o *Options) Weights(to *Weights, name, usage string) *Option {
	*to = nil
	return o.add(&Option{Name: name, Usage: usage, Type: "NUMBERS", parse: to.Set,
		Syntax: "a number, or where the method knows it a share of what leaves no feature (0.1x); path takes several, as 0.1,1 or 1e-3..1e3 (a value a decade)"})
}

// PlainWeights is Weights for a method that has nothing to take a share of.
func (o *Options) PlainWeights(to *Weights, name, usage, method string) *Option {
	return o.Weights(to, name, usage).Refuse(func(string) error { return to.RefuseShares(name, method) })
}

// Parse reads the value of the option from text; the error says what it wants.
func (opt *Option) Parse(s string) error { return opt.parse(s) }

// Bound refuses values that are not fine, in words such as "want 1 or more".
func (opt *Option) Bound(fine func() bool, want string) *Option {
	return opt.Refuse(func(text string) error {
		if fine() {
			return nil
		}
		return stream.Usagef("%v %s: %s", stream.Option(opt.Name), text, want)
	})
}

// Refuse adds a rule over the value; text is how it was written.
func (opt *Option) Refuse(rule func(text string) error) *Option {
	opt.bounds = append(opt.bounds, rule)
	return opt
}

// set takes over a value from its text.
func (opt *Option) set(text string) error {
	if err := opt.parse(text); err != nil {
		return stream.Usagef("%v %s: %w", stream.Option(opt.Name), text, err)
	}
	opt.isSet = true
	for _, rule := range opt.bounds {
		if err := rule(text); err != nil {
			return err
		}
	}
	return nil
}

// RefuseNegative adds a fault for a count below 0; the name is a Text, {threads} for an
// option.
func RefuseNegative(faults *stream.Faults, name string, count int) {
	if count < 0 {
		faults.Addf(name+" = %d is negative", count)
	}
}

// RefuseNumber adds faults for k of d features: none to choose from, k below 0 or above d.
func RefuseNumber(faults *stream.Faults, k, d int) {
	if d < 1 {
		faults.Addf("there are no features to choose from")
	}
	RefuseNegative(faults, "{k}", k)
	if k > d {
		faults.Addf("{k} = %d is more than the %d features", k, d)
	}
}

// MostGaining is the most of d features, beside those to keep, that can each add such a share to what is explained.
func MostGaining(d, keep int, share float64) int { return int(min(float64(d), float64(keep)+1/share)) }

// RefuseKept adds faults for columns to keep among k of d features, 0 for any number: too many, none
// of the features, or named twice.
func RefuseKept(faults *stream.Faults, keep []int, k, d int) {
	if k > 0 && len(keep) > k {
		faults.Addf("%d features to keep are more than {k} = %d", len(keep), k)
	}
	seen := make(map[int]bool, len(keep))
	for _, j := range keep {
		if j < 0 || j >= d {
			faults.Addf("column %d to keep is not one of the %d features", j, d)
		} else if seen[j] {
			faults.Addf("column %d to keep is named twice", j)
		}
		seen[j] = true
	}
}
