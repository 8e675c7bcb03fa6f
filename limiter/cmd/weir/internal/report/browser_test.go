package report

import (
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json"
)

// shots is for people: the page as the browser shows it.
var shots = flag.String("shots", "", "write pictures of the pages into this `directory`")

//go:embed testdata/browser.js
var checks string

// least is how many figures a page has at least, so that finding none is no success.
var least = map[string]int{"one": 110, "empty": 8, "two": 230, "six": 350, "hostile": 90}

// A screen is what the page is shown on.
type screen struct {
	name          string
	width         int64
	media, scheme string
}

// screens have all widths and both schemes, but not all pairs: what a colour is
// does not depend on the width.
var screens = []screen{
	{"phone-light", 360, "", "light"},
	{"tablet-dark", 768, "", "dark"},
	{"desktop-light", 1440, "", "light"},
	{"paper", 720, "print", "light"},
}

// TestPageInBrowser opens each page in Chromium, at the widths of phones and
// desktops, light and dark, and on paper.
func TestPageInBrowser(t *testing.T) {
	browser := startChromium(t)
	for name, r := range fixtures() {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := chromedp.NewContext(browser)
			defer cancel()
			file := filepath.Join(t.TempDir(), "report.html")
			var page, raw bytes.Buffer
			must(t, r.WriteHTML(&page))
			must(t, r.WriteJSON(&raw))
			must(t, os.WriteFile(file, page.Bytes(), 0o600))
			said := listen(t, ctx)
			must(t, chromedp.Do(ctx, chromedp.Navigate("file://"+file)))
			evaluate[any](t, ctx, checks+"; null")
			checkFigures(t, ctx, name, raw.String())
			for _, on := range screens {
				t.Run(on.name, func(t *testing.T) {
					on.emulate(t, ctx)
					checkLayout(t, ctx)
					picture(t, ctx, name+"-"+on.name)
				})
			}
			if got := said(); len(got) != 1 || got[0] != "request file://"+file {
				t.Errorf("the page did more than be read: %q", got)
			}
		})
	}
}

// startChromium starts a browser that ends with the test.
func startChromium(t *testing.T) context.Context {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"),
		chromedp.NoSandbox, chromedp.Flag("disable-gpu", true), chromedp.WSURLReadTimeout(time.Minute))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	browser, end := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		if err := chromedp.Cancel(browser); err != nil {
			t.Errorf("closing Chromium: %v", err)
		}
		end()
		stop()
	})
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("Chromium, from Debian's package chromium, does not start: %v", err)
	}
	return browser
}

// listen notes what a page asks the network for and says on the console.
func listen(t *testing.T, ctx context.Context) func() []string {
	t.Helper()
	var mu sync.Mutex
	var said []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, fmt.Sprintf(format, args...))
	}
	must(t, chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			note("request %s", e.Request.URL)
		case *runtime.EventConsoleAPICalled:
			note("console %s %v", e.Type, e.Args)
		case *runtime.EventExceptionThrown:
			note("exception %s", e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			note("log %s", e.Entry.Text)
		}
	}))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	must(t, err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	must(t, err)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return said
	}
}

// checkFigures compares all figures of the page with the JSON report.
func checkFigures(t *testing.T, ctx context.Context, name, raw string) {
	t.Helper()
	quoted, err := json.Marshal(raw)
	must(t, err)
	got := evaluate[struct {
		Count int
		Wrong []string
		JSON  string
	}](t, ctx, fmt.Sprintf("figures(%s)", quoted))
	for _, w := range got.Wrong {
		t.Errorf("the page and the JSON differ: %s", w)
	}
	if got.Count < least[name] {
		t.Errorf("the page has %d figures, want at least %d", got.Count, least[name])
	}
	if got.JSON != raw {
		t.Error("the JSON in the page is not that of WriteJSON")
	}
}

// checkLayout asks whether everything can be read.
func checkLayout(t *testing.T, ctx context.Context) {
	t.Helper()
	got := evaluate[struct {
		Wrong []string
		Texts int
	}](t, ctx, "layout()")
	for _, w := range got.Wrong {
		t.Error(w)
	}
	if got.Texts < 10 {
		t.Errorf("only %d texts were looked at", got.Texts)
	}
}

func evaluate[T any](t *testing.T, ctx context.Context, script string) T {
	t.Helper()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[T](script))
	must(t, err)
	return got
}

func (s screen) emulate(t *testing.T, ctx context.Context) {
	t.Helper()
	must(t, chromedp.Do(ctx, chromedp.EmulateViewport(s.width, 900)))
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: s.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}}})
	must(t, err)
}

func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if *shots == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
