package splitmix

import "testing"

// The outputs of Vigna's splitmix64.c from state 1234567: the state moves by the constant
// that Mix adds first.
func TestMixIsSplitMix64(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := Mix(1234567 + uint64(i)*0x9E3779B97F4A7C15); got != want {
			t.Errorf("output %d is %d, want %d", i+1, got, want)
		}
	}
}
