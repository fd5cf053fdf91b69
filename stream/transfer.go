package stream

// Transfer is what was fetched from object stores.
type Transfer struct {
	Fetched  int64 `json:"fetched_bytes"` // bytes of answers' bodies, those of failed requests too
	Requests int64 `json:"requests"`      // sent, again or not
	Retries  int64 `json:"retries"`       // of them, those sent again
}

// Transfer is what the meter has counted of object stores, nil where that is nothing.
func (m *Meter) Transfer() *Transfer {
	if m == nil {
		return nil
	}
	t := Transfer{m.Fetched.Load(), m.Requests.Load(), m.Retries.Load()}
	return t.orNil()
}

// Since is t without what was counted before, nil where that is all of it.
func (t *Transfer) Since(before *Transfer) *Transfer {
	if t == nil || before == nil {
		return t
	}
	rest := Transfer{t.Fetched - before.Fetched, t.Requests - before.Requests, t.Retries - before.Retries}
	return rest.orNil()
}

func (t Transfer) orNil() *Transfer {
	if t == (Transfer{}) {
		return nil
	}
	return &t
}
