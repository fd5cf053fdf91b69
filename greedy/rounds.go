package greedy

import (
	"context"
	"strconv"

	"github.com/ufs-stream/ufs-stream/greedy/internal/engine"
	"github.com/ufs-stream/ufs-stream/greedy/internal/inmemory"
	"github.com/ufs-stream/ufs-stream/greedy/internal/target"
	"github.com/ufs-stream/ufs-stream/internal/numeric/kernel"
	"github.com/ufs-stream/ufs-stream/internal/numeric/spectral"
	"github.com/ufs-stream/ufs-stream/method"
)

// automaticRounds is the value of graphGreedy.rounds for {smooth} auto, before bestNumberOfRounds is called.
const automaticRounds = -1

func candidateNumbersOfRounds() []int { return []int{1, 2, 3, 4, 6, 8, 12, 16} }

func (m *graphGreedy) setRoundsFromText() bool {
	if m.roundsText == "auto" {
		m.rounds = automaticRounds
		return true
	}
	n, err := strconv.Atoi(m.roundsText)
	m.rounds = n
	return err == nil && n >= 0 && n <= maxRounds
}

// bestNumberOfRounds returns the number of smoothing rounds whose choice of k features is best aligned with the graph's
// diffusion kernel ([spectral.Diffusion.Alignment]), which uses no labels. If several numbers are aligned equally well,
// the smallest is chosen. On 11 data sets with labels, features chosen with this number scored 2.0 points of NMI less
// than with the best number in hindsight, and with 2 rounds 3.9 points less. It costs a selection for each candidate.
func (m *graphGreedy) bestNumberOfRounds(ctx context.Context, team *kernel.Team, e *method.Evidence) (int, error) {
	k, err := spectral.Diffuse(team, e.Graph, spectral.DefaultDiffusion)
	if err != nil {
		return 0, err
	}
	best, top := 0, -1.0
	for _, t := range candidateNumbersOfRounds() {
		goal, err := target.NewSmooth(team, e.Graph, t)
		if err != nil {
			return 0, err
		}
		res, err := inmemory.SelectMatrix(ctx, e.Graph.G, goal.Matrix, selectionOptions(e))
		if err != nil {
			return 0, err
		}
		if a := k.Alignment(e.Graph, res.Order); a > top*(1+engine.TieShare) {
			best, top = t, a
		}
	}
	return best, nil
}
