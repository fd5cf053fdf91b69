package method

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
)

// Options holds the settings that a method declares. Each setting is bound to a variable, which gets the default value
// when the setting is declared.
type Options struct {
	list   []*Option
	checks []func(isSet func(name string) bool) error
}

// Option is one declared setting.
type Option struct {
	Name    string
	Usage   string // one line; `N` in backquotes names the value
	Syntax  string // syntax of the value, if it needs an explanation
	Type    string // int, float64, bool, string, name (one of Allowed) or NUMBERS (weights)
	Default string // as text; empty if Usage describes it
	Allowed []string

	parse  func(string) error
	bounds []func(text string) error
	isSet  bool
}

// All lists the options in the order of their declaration.
func (o *Options) All() []*Option { return o.list }

// Find returns the option with the given name, or nil if no such option is declared.
func (o *Options) Find(name string) *Option {
	for _, opt := range o.list {
		if opt.Name == name {
			return opt
		}
	}
	return nil
}

// Check adds a rule about several options. The rule is evaluated when all options have their values. The function isSet
// reports whether an option was given.
func (o *Options) Check(rule func(isSet func(name string) bool) error) {
	o.checks = append(o.checks, rule)
}

func (o *Options) addOption(opt *Option) *Option {
	o.list = append(o.list, opt)
	return opt
}

// Int declares an option for a whole number, with the default value.
func (o *Options) Int(target *int, name string, value int, usage string) *Option {
	return declareOption(o, target, value, Option{Name: name, Usage: usage, Type: "int"}, strconv.Atoi, "want a whole number")
}

// Int64 declares an option for a whole number that counts rows, with the default value.
func (o *Options) Int64(target *int64, name string, value int64, usage string) *Option {
	parse := func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
	return declareOption(o, target, value, Option{Name: name, Usage: usage, Type: "int"}, parse, "want a whole number")
}

// Float declares an option for a number, with the default value.
func (o *Options) Float(target *float64, name string, value float64, usage string) *Option {
	parse := func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }
	return declareOption(o, target, value, Option{Name: name, Usage: usage, Type: "float64"}, parse, "want a number")
}

// Bool declares a switch, which is off by default.
func (o *Options) Bool(target *bool, name, usage string) *Option {
	return declareOption(o, target, false, Option{Name: name, Usage: usage, Type: "bool"}, strconv.ParseBool, "want true or false")
}

// Text declares an option for any text.
func (o *Options) Text(target *string, name, usage string) *Option {
	return declareOption(o, target, "", Option{Name: name, Usage: usage, Type: "string"}, func(s string) (string, error) { return s, nil }, "")
}

// declareOption adds opt, an option that parse converts from text and stores in target. The text want describes valid
// values to the user. A default equal to the zero value is not recorded in opt, because the usage text explains it.
func declareOption[T comparable](o *Options, target *T, value T, opt Option, parse func(string) (T, error), want string) *Option {
	*target = value
	if value != *new(T) {
		opt.Default = fmt.Sprint(value)
	}
	opt.parse = func(s string) error {
		v, err := parse(s)
		if err != nil {
			return errors.New(want)
		}
		*target = v
		return nil
	}
	return o.addOption(&opt)
}

// Choice declares an option whose value is one of the allowed names.
func (o *Options) Choice(target *string, name, value, usage string, allowed ...string) *Option {
	*target = value
	return o.addOption(&Option{Name: name, Usage: usage, Type: "name", Default: value, Allowed: allowed, parse: func(s string) error {
		if !slices.Contains(allowed, s) {
			return stream.Errorf("want %s%v", strings.Join(allowed, ", "), suggest.DidYouMean(s, allowed))
		}
		*target = s
		return nil
	}})
}

// Weights declares an option for the weight of a term of an objective. It accepts several weights, see [Weights].
func (o *Options) Weights(target *Weights, name, usage string) *Option {
	*target = nil
	return o.addOption(&Option{Name: name, Usage: usage, Type: "NUMBERS", parse: target.Set,
		Syntax: "a number, or for some methods a share of the weight that leaves no feature (0.1x); path takes several, as 0.1,1 or 1e-3..1e3 (a value a decade)"})
}

// Weight declares an option for one number, or for a share, such as "0.1x", of a reference value. See [Weight].
func (o *Options) Weight(target *Weight, name, usage string) *Option {
	*target = Weight{}
	return o.addOption(&Option{Name: name, Usage: usage, Type: "NUMBER", parse: func(s string) (err error) {
		*target, err = parseWeight(s)
		return err
	}})
}

// PlainWeights declares an option for weights as Weights does, but one that refuses shares of a reference value, such
// as "0.1x", because the method has no reference value.
func (o *Options) PlainWeights(target *Weights, name, usage, method string) *Option {
	return o.Weights(target, name, usage).Refuse(func(string) error { return target.RefuseShares(name, method) })
}

// Parse sets the option from text. The error describes valid values.
func (opt *Option) Parse(s string) error { return opt.parse(s) }

// Bound adds a rule: isValid is called after a value has been stored, and if it returns false, the value is refused.
// The text want is the advice to the user, such as "want 1 or more".
func (opt *Option) Bound(isValid func() bool, want string) *Option {
	return opt.Refuse(func(text string) error {
		if isValid() {
			return nil
		}
		return stream.Usagef("%v %s: %s", stream.Option(opt.Name), text, want)
	})
}

// Refuse adds a rule for the value. The rule receives the value as the user typed it.
func (opt *Option) Refuse(rule func(text string) error) *Option {
	opt.bounds = append(opt.bounds, rule)
	return opt
}

func (opt *Option) setFromText(text string) error {
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

// RefuseNegative adds a fault if count is below 0. The fault begins with name. The name of an option is in braces, such
// as {threads}, as in a stream.Text.
func RefuseNegative(faults *stream.Faults, name string, count int) {
	if count < 0 {
		faults.Addf(name+" = %d is negative", count)
	}
}

// RefuseInfinite adds a fault if value is not a finite number. The fault begins with name, as that of RefuseNegative.
func RefuseInfinite(faults *stream.Faults, name string, value float64) {
	if value-value != 0 {
		faults.Addf(name+" = %v is not a finite number", value)
	}
}

// RefuseWeight adds a fault if value is not a finite number of at least 0. The fault begins with name, as that of
// RefuseNegative.
func RefuseWeight(faults *stream.Faults, name string, value float64) {
	if !(value >= 0) || value-value != 0 {
		faults.Addf(name+" = %v is not a finite number of at least 0", value)
	}
}

// RefuseNumber adds a fault if there are no features (d < 1), and a fault if the number k of features to choose is
// below 0 or above d.
func RefuseNumber(faults *stream.Faults, k, d int) {
	if d < 1 {
		faults.Addf("there are no features to choose from")
	}
	RefuseNegative(faults, "{k}", k)
	if k > d {
		faults.Addf("{k} = %d is more than the %d features", k, d)
	}
}

// MostGaining returns an upper bound of the number of features in a selection from d features. kept is the number of
// features that are given. Each further feature must add at least the given share of the variance.
func MostGaining(d, kept int, share float64) int { return int(min(float64(d), float64(kept)+1/share)) }

// RefuseKept adds faults if the columns to keep are more than k, are not among the d features, or are repeated. If k is
// 0, any number of columns may be kept.
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
