package main

import "context"

func (s *settings) rounds(_ context.Context) ([]round, error) {
	if s.profileRound {
		return []round{profileRound, statisticsRound}, nil
	}
	return []round{statisticsRound}, nil
}
