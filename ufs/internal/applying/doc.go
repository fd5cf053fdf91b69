// Package applying writes selected columns and converted tables, and inspects inputs.
package applying
