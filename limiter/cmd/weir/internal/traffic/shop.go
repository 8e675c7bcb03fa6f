package traffic

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// A page is a request that clients of the made-up shop make.
type page struct {
	method, path string
	bytes        int // of a usual response
}

// A shop has pages, the popular ones first.
type shop struct {
	pages      []page
	popularity *zipf
}

// theShop is the same in every process.
var theShop = sync.OnceValue(func() *shop {
	random := rand.New(rand.NewPCG(1, 1))
	var pages []page
	for _, kind := range []struct {
		method, path string // # is a number
		count, bytes int
	}{
		{"GET", "/api/products?page=#", 40, 9000},
		{"GET", "/api/products/#", 240, 1800},
		{"GET", "/api/products/#/reviews", 80, 4200},
		{"GET", "/api/search?q=item+#", 60, 5200},
		{"GET", "/api/users/#/orders", 60, 2600},
		{"GET", "/api/orders/#", 60, 1100},
		{"GET", "/assets/img/#.webp", 120, 48000},
		{"POST", "/api/cart/items/#", 40, 220},
		{"PUT", "/api/cart/items/#", 20, 220},
		{"DELETE", "/api/cart/items/#", 10, 0},
	} {
		for range kind.count {
			path := strings.Replace(kind.path, "#", strconv.Itoa(1+random.IntN(9999)), 1)
			pages = append(pages, page{kind.method, path, kind.bytes})
		}
	}
	random.Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	top := []page{
		{"GET", "/", 7400}, {"GET", "/api/session", 310}, {"GET", "/assets/app.js", 182000}, {"GET", "/assets/app.css", 34000},
		{"GET", "/api/cart", 900}, {"POST", "/api/login", 420}, {"POST", "/api/orders", 640}, {"GET", "/favicon.ico", 1150},
		{"GET", "/healthz", 2}, {"POST", "/api/events", 0},
	}
	pages = append(top, pages...)
	return &shop{pages, newZipf(int64(len(pages)), 0.9)}
})

func (s *shop) draw(random *rand.Rand) *page { return &s.pages[s.popularity.draw(random)] }

// drawStatus returns the status of a usual response.
func drawStatus(random *rand.Rand, method string) string {
	switch u := random.Float64(); {
	case u < 0.003:
		return "503"
	case u < 0.008:
		return "500"
	case u < 0.03:
		return "404"
	case method == "POST":
		return "201"
	case u < 0.08 && method == "GET":
		return "304"
	default:
		return "200"
	}
}

// agents are the programs that clients use.
var agents = [...]string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:142.0) Gecko/20100101 Firefox/142.0",
	"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0",
	"okhttp/4.12.0",
	"python-requests/2.32.5",
	"curl/8.14.1",
}

// agent returns what a client uses, which stays the same.
func agent(client int64) string {
	hash := uint64(client) * 0x9e3779b97f4a7c15 >> 40
	return agents[hash*uint64(len(agents))>>24]
}
