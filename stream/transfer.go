package stream

// Transfer counts traffic with object stores.
type Transfer struct {
	Fetched  int64 `json:"fetched_bytes"` // bytes received in the bodies of answers, including failed requests
	Requests int64 `json:"requests"`      // requests sent, including retries
	Retries  int64 `json:"retries"`       // requests sent again
}

// Transfer returns the meter's counts of traffic with object stores, or nil if there was no traffic.
func (m *Meter) Transfer() *Transfer {
	if m == nil {
		return nil
	}
	t := Transfer{m.Fetched.Load(), m.Requests.Load(), m.Retries.Load()}
	return t.nilIfNoTraffic()
}

// Since returns t minus the counts of before, or nil if the difference is zero.
func (t *Transfer) Since(before *Transfer) *Transfer {
	if t == nil || before == nil {
		return t
	}
	rest := Transfer{t.Fetched - before.Fetched, t.Requests - before.Requests, t.Retries - before.Retries}
	return rest.nilIfNoTraffic()
}

func (t Transfer) nilIfNoTraffic() *Transfer {
	if t == (Transfer{}) {
		return nil
	}
	return &t
}
