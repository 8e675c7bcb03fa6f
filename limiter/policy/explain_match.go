package policy

import "strconv"

// A Condition is one of those of a match.
type Condition struct {
	Holds bool

	match *match
	index int // in the order of matchers
}

// Text returns the condition as in: path prefix "/api/". What a header is
// compared with that is called like a credential must not be shown, and hide
// says what stands for it.
func (c Condition) Text(hide func(secret string) string) string {
	return c.match.conditions(hide)[c.index]
}

// explain lists the conditions of a match, with those that hold.
func (m *match) explain(v *view) (list []Condition, err error) {
	for i, text := range m.conditions(strconv.Quote) {
		if text == "" {
			continue
		}
		holds, err := matchers[i](m, v)
		if err != nil {
			return nil, err
		}
		list = append(list, Condition{holds, m, i})
	}
	return list, nil
}

// conditions are the texts of the conditions, in the order of matchers; empty
// where there is none.
func (m *match) conditions(hide func(secret string) string) (texts [len(matchers)]string) {
	if m.path != nil {
		texts[0] = "path " + m.path.text(strconv.Quote)
	}
	if len(m.methods) > 0 {
		texts[1] = "method " + either(m.methods)
	}
	if m.host != nil {
		texts[2] = "host " + m.host.text(strconv.Quote)
	}
	for i, h := range m.headers {
		if i > 0 {
			texts[3] += ", "
		}
		show := strconv.Quote
		if IsCredential(h.name) {
			show = hide
		}
		texts[3] += "header " + h.name + " " + h.text(show)
	}
	for i, p := range m.clientIPs {
		if i > 0 {
			texts[4] += ", "
		}
		texts[4] += p.String()
	}
	if texts[4] != "" {
		texts[4] = "client_ip in " + texts[4]
	}
	if m.preflight {
		texts[5] = "preflight"
	}
	return texts
}

// text returns the condition as in: prefix "/api/", where show writes what it
// compares with.
func (m *textMatch) text(show func(string) string) string {
	switch {
	case m.absent:
		return "absent"
	case m.exact != "":
		return "exact " + show(m.exact)
	case m.prefix != "":
		return "prefix " + show(m.prefix)
	case m.suffix != "":
		return "suffix " + show(m.suffix)
	case m.regex != nil:
		return "regex " + show(m.pattern)
	default:
		return "present"
	}
}
