// Package baseline scores features without a model, as the yardstick that other
// selectors have to beat: by their variance, or by chance.
//
//  1. gram.Profile gathers mean and spread of each column in one pass;
//  2. Variance or Random gives every feature a score;
//  3. Rank orders them.
package baseline
