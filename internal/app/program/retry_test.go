package program

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/ufs-stream/ufs-stream/stream"
)

func newRetryFlags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.IntP("number", "k", 0, "")
	flags.String("name", "", "")
	flags.StringSlice("list", nil, "")
	flags.BoolP("verbose", "v", false, "")
	flags.Int("shards", 0, "")
	flags.Lookup("shards").NoOptDefVal = "8"
	return flags
}

func TestChangeArgs(t *testing.T) {
	for _, c := range []struct {
		args   string
		advice string // the format of an error
		want   string // empty if the error decides no command
	}{
		{"in -k 3", "{k 5}", "in -k 5"},
		{"in -k3 -v", "{k 5}", "in -k 5 -v"},
		{"in -vk3", "{k 5}", "in -v -k 5"},
		{"in -vk 3 x", "{k 5}", "in -v -k 5 x"},
		{"in --number=3 x", "{k 5}", "in -k 5 x"},
		{"in", "{k 5}", "in -k 5"},
		{"in -- -k 3", "{k 5}", "in -k 5 -- -k 3"},
		{"-v --name k in", "{name -x}", "-v --name=-x in"},
		{"in", "{shards 4}", "in --shards=4"},
		{"--shards in", "{shards 4}", "--shards=4 in"},
		{"in --shards 3", "{-shards}", "in 3"}, // 3 is an argument of its own
		{"in --list a", "{list b}", "in --list a --list b"},
		{"in --list a --list=b", "{-list}", "in"},
		{"in", "{+verbose}", "in --verbose"},
		{"in --name a --name b", "{name c}", "in --name c"},
		{"in --name a -k 3", "{-name} {k 4}", "in -k 4"},
		{"in -k 3", "{k 3}", ""},
		{"in", "{-name}", ""},
		{"in", "{unknown 3}", ""},
		{"- -k 3", "{k 5}", ""},
		{"in -k 3", "see {k} and {name}", ""},
	} {
		changed := changeArgs(newRetryFlags(), strings.Fields(c.args), stream.AdvisedChanges(stream.Usagef(c.advice)))
		if got := strings.Join(changed, " "); got != c.want {
			t.Errorf("%s, after an error with %s, becomes %q, want %q", c.args, c.advice, got, c.want)
		}
	}
}

func TestReplaceWord(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"gredy", "greedy"},
		{"in --name gredy", "in --name greedy"},
		{"in --name=gredy", "in --name=greedy"},
		{"in --list a,gredy,b", "in --list a,greedy,b"},
		{"in gredy --name gredy", ""},
		{"in agredy", ""},
	} {
		got := strings.Join(replaceWord(strings.Fields(c.args), stream.Correction{Unknown: "gredy", Known: "greedy"}), " ")
		if got != c.want {
			t.Errorf("%s becomes %q, want %q", c.args, got, c.want)
		}
	}
	if got := replaceWord([]string{"--cuont=3"}, stream.Correction{Unknown: "--cuont", Known: "--count"}); strings.Join(got, " ") != "--count=3" {
		t.Errorf("a flag with its value becomes %q", got)
	}
}
