package policy

import "strconv"

// explain lists the conditions of a match, with those that hold.
func (m *match) explain(v *view) (list []Condition, err error) {
	for i, text := range m.conditions() {
		if text == "" {
			continue
		}
		holds, err := matchers[i](m, v)
		if err != nil {
			return nil, err
		}
		list = append(list, Condition{text, holds})
	}
	return list, nil
}

// conditions are the texts of the conditions, in the order of matchers; empty
// where there is none.
func (m *match) conditions() (texts [len(matchers)]string) {
	if m.path != nil {
		texts[0] = "path " + m.path.textMatch.String()
	}
	if len(m.methods) > 0 {
		texts[1] = "method " + either(m.methods)
	}
	if m.host != nil {
		texts[2] = "host " + m.host.String()
	}
	for i, h := range m.headers {
		if i > 0 {
			texts[3] += ", "
		}
		texts[3] += "header " + h.name + " " + h.String()
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

// String returns the condition as in: prefix "/api/".
func (m *textMatch) String() string {
	switch {
	case m.absent:
		return "absent"
	case m.exact != "":
		return "exact " + strconv.Quote(m.exact)
	case m.prefix != "":
		return "prefix " + strconv.Quote(m.prefix)
	case m.suffix != "":
		return "suffix " + strconv.Quote(m.suffix)
	case m.regex != nil:
		return "regex " + strconv.Quote(m.pattern)
	default:
		return "present"
	}
}
