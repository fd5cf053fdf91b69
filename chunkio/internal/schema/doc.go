// Package schema chooses the features among the flattened columns of a catalog, derives features from times, categories
// and missing values, and gives every other column the reason why it is not a feature.
package schema
