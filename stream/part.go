package stream

import (
	"fmt"
	"strings"
)

// Part says which shards of which plan statistics are of. Statistics that were not scanned by a
// plan file have none.
type Part struct {
	Plan   string        `json:"plan"`            // ID of the plan file
	Of     int           `json:"of"`              // shards in all
	Shards []ShardRange  `json:"shards"`          // in order; neighbours are one range
	Round  string        `json:"round,omitempty"` // digest of the profile that they were scanned with; empty without one
	Whole  *WholeOfParts `json:"whole,omitempty"` // what all shards together are of
}

// WholeOfParts is what a plan says of all its shards together.
type WholeOfParts struct {
	Files int   `json:"files"`
	Rows  int64 `json:"rows"`
}

// ShardRange is the shards From to To, both included, counted from 1.
type ShardRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// Check finds fault with a Part that was read: its shards must be some of Of, in order and once.
func (p *Part) Check() error {
	last := 0
	for _, r := range p.Shards {
		if r.From <= last || r.To < r.From || r.To > p.Of {
			return fmt.Errorf("shards %s of %d of a plan cannot be", ShardList(p.Shards), p.Of)
		}
		last = r.To
	}
	if last == 0 {
		return fmt.Errorf("no shard of %d of a plan", p.Of)
	}
	return nil
}

// Complete reports whether all shards are there.
func (p *Part) Complete() bool {
	return len(p.Shards) == 1 && p.Shards[0] == ShardRange{1, p.Of}
}

// Count is the number of shards that are there.
func (p *Part) Count() (n int) {
	for _, r := range p.Shards {
		n += r.To - r.From + 1
	}
	return n
}

// Missing lists the shards that are not there.
func (p *Part) Missing() []ShardRange {
	var missing []ShardRange
	next := 1
	for _, r := range p.Shards {
		if next < r.From {
			missing = append(missing, ShardRange{next, r.From - 1})
		}
		next = r.To + 1
	}
	if next <= p.Of {
		missing = append(missing, ShardRange{next, p.Of})
	}
	return missing
}

// String is "3" or "3-7".
func (r ShardRange) String() string {
	if r.From == r.To {
		return fmt.Sprint(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}

// ShardList is "1, 3-7", and the first few of many.
func ShardList(ranges []ShardRange) string {
	const shown = 8
	var list []string
	for i, r := range ranges {
		if i == shown {
			list = append(list, "…")
			break
		}
		list = append(list, r.String())
	}
	return strings.Join(list, ", ")
}
