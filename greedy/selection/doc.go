// Package selection defines the arguments and results of package greedy: [Options] of a selection, [StreamOptions] for
// rows that are read several times, a [Target] to reconstruct in place of the data, and the [Result].
package selection
