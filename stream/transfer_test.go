package stream

import "testing"

func TestTransferSince(t *testing.T) {
	var m Meter
	if got := m.Transfer(); got != nil || got.Since(nil) != nil {
		t.Errorf("an unused meter: %+v", got)
	}
	m.Fetched.Add(10)
	m.Requests.Add(2)
	before := m.Transfer()
	if *before != (Transfer{10, 2, 0}) || *before.Since(nil) != *before || before.Since(before) != nil {
		t.Errorf("before: %+v", before)
	}
	m.Requests.Add(1)
	m.Retries.Add(1)
	if got := m.Transfer().Since(before); *got != (Transfer{0, 1, 1}) || *before != (Transfer{10, 2, 0}) {
		t.Errorf("after: %+v of %+v", got, before)
	}
}
