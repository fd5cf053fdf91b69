package main

import "github.com/spf13/pflag"

// addHygieneFlags adds the flags that leave out columns because of their values.
func (f *requestFlags) addHygieneFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.req.Columns.AutoExclude, "auto-exclude", false, "leave out the columns that otherwise cause a warning: identifiers, times as numbers, mostly missing ones, copies of others, and those that nearly determine --label. The output lists them, with the reason. Methods on an anchor graph or over rows then read the input once more")
	fs.Float64Var(&f.req.Columns.MaxMissing, "max-missing", 0, "leave out columns that lack a value in more than this `SHARE` of the rows, as 0.5; without this flag, a share above 0.5 is a warning")
}
