// Package engine runs the turns of greedy: the criterion f/g of Theorem 2 (see package greedy), the choice of the feature
// with the highest score, and the record of its effect on every feature.
//
//  1. [Criterion] holds f and g of every feature, and bounds of the rounding errors of f.
//  2. An [Engine] supplies exact numbers to the criterion. [Gram] is the engine for a Gram matrix in memory.
//  3. [RunLayers] makes a selection turn by turn, and layer by layer, for any engine. A [Recorder] collects its result.
package engine
