// Package cache holds decoded row groups in memory for later passes, each column in its narrowest exact form.
package cache
