// Package naming decides by which names users address columns: unusable names, names that several columns share,
// patterns over names, and the names of indicators of missing values.
package naming
