package settled

import (
	"context"

	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs/internal/groups"
)

func settleChoice(ctx context.Context, r *Run) (err error) {
	q := &r.Request
	switch {
	case q.Choice.GroupMost < 0:
		return stream.Usagef("{group-most} %d: want 1 or more", q.Choice.GroupMost)
	case q.Choice.GroupMost > 0 && q.Choice.Groups == "":
		return stream.Usagef("{group-most} limits the choice from each group; define the groups with {groups}")
	case !(q.Choice.Budget >= 0 && q.Choice.Budget <= groups.MaxCost):
		return stream.Usagef("{budget} %v: want a number above 0", q.Choice.Budget)
	}
	if option := groups.BindingOption(q, r.Bound.Takes); option != "" {
		return stream.Usagef("%v is not for method %s, which has no score of every feature; {method} greedy serves it", stream.Option(option), r.Bound.Name)
	}
	if r.Grouping, err = groups.ReadGroups(ctx, q); err != nil {
		return err
	}
	r.Pricing, err = groups.ReadCosts(ctx, q)
	return err
}
