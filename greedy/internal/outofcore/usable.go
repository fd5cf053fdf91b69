package outofcore

import (
	"slices"

	"github.com/ufs-stream/ufs-stream/gram"
	"github.com/ufs-stream/ufs-stream/greedy/selection"
	"github.com/ufs-stream/ufs-stream/stream"
)

func optionsForUsableColumns(o selection.StreamOptions, std *gram.Standardizer, cols []stream.Column) (selection.Options, error) {
	opt := o.Options
	feature := make(map[int]int, len(std.Columns))
	for k, j := range std.Columns {
		feature[j] = k
	}
	translate := translateColumns
	if o.Blocks != nil {
		translate = translateBlocks
	}
	if err := translate(o, &opt, std, cols, feature); err != nil {
		return opt, err
	}
	opt.Explain = nil
	for _, j := range o.Explain {
		if k, ok := feature[j]; ok {
			opt.Explain = append(opt.Explain, k)
		}
	}
	if len(o.Explain) > 0 && opt.Explain == nil {
		return opt, stream.Usagef("{explain-columns}: column %q and all others to be explained are left out: %s", cols[o.Explain[0]].Name, reasonForLeavingOut(std, cols[o.Explain[0]].Name))
	}
	if o.Groups != nil {
		opt.Groups = make([]int, len(std.Columns))
		number := make(map[int]int) // new number of each group that has usable features
		for k, j := range std.Columns {
			if _, ok := number[o.Groups[j]]; !ok {
				number[o.Groups[j]] = len(number)
			}
			opt.Groups[k] = number[o.Groups[j]]
		}
	}
	opt.Partitions = min(opt.Partitions, len(std.Columns))
	return opt, nil
}

func translateColumns(o selection.StreamOptions, opt *selection.Options, std *gram.Standardizer, cols []stream.Column, featureOf map[int]int) error {
	opt.Keep = nil
	for _, j := range o.Keep {
		k, ok := featureOf[j]
		if !ok {
			return stream.Usagef("column %q cannot be kept, as it is left out: %s", cols[j].Name, reasonForLeavingOut(std, cols[j].Name))
		}
		opt.Keep = append(opt.Keep, k)
	}
	opt.Forbid = nil
	for _, j := range o.Forbid { // columns left out are never chosen
		if k, ok := featureOf[j]; ok {
			opt.Forbid = append(opt.Forbid, k)
		}
	}
	if o.Most > 0 {
		opt.Sets = make([]int, len(std.Columns))
		for k, j := range std.Columns {
			opt.Sets[k] = o.Sets[j]
		}
	}
	return nil
}

// translateBlocks replaces the members of blocks, which are columns of the source, by features of std. Keep, Forbid and
// Sets contain the numbers of blocks, and need no translation.
func translateBlocks(o selection.StreamOptions, opt *selection.Options, std *gram.Standardizer, cols []stream.Column, featureOf map[int]int) error {
	opt.Blocks = slices.Clone(o.Blocks)
	for i, b := range o.Blocks {
		opt.Blocks[i].Members = nil
		for _, j := range b.Members {
			if k, ok := featureOf[j]; ok {
				opt.Blocks[i].Members = append(opt.Blocks[i].Members, k)
			}
		}
		if opt.Blocks[i].Members == nil {
			return stream.Usagef("block %d has no column that can be used; the first, %q: %s", i, cols[b.Members[0]].Name, reasonForLeavingOut(std, cols[b.Members[0]].Name))
		}
	}
	return nil
}

func reasonForLeavingOut(std *gram.Standardizer, name string) string {
	for _, l := range std.LeftOut {
		if l.Name == name {
			return l.Why
		}
	}
	return "not a usable feature"
}
