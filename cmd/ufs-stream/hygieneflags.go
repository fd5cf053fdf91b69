package main

import "github.com/spf13/pflag"

// addHygieneFlags adds the flags that leave out columns because of their values.
func (f *requestFlags) addHygieneFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&f.req.AutoExclude, "auto-exclude", false, "leave out the columns that are otherwise warned of: identifiers, times as numbers, mostly missing ones, copies of others, and those that nearly determine --label. The output lists them, with the reason. Methods on an anchor graph or over rows read the input once more for it")
	fs.Float64Var(&f.req.MaxMissing, "max-missing", 0, "leave out columns of which more than this `SHARE` of the rows is missing, as 0.5, above which they are otherwise warned of")
}
