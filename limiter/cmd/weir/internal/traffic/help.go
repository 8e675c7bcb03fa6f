package traffic

// Help says how traffic is specified, for the help of commands.
const Help = `TRAFFIC is a kind, then settings, with commas between and no blanks:

  poisson,rate=50,clients=100        independent requests at random times
  burst,size=200,every=30s           many requests at once, again and again
  retry,rate=20,clients=10           clients that wait for each answer, and try
                                     again when they are refused
  flood,rate=10000                   each request from a client of its own

--traffic may be given several times; all of it comes together.

Settings of poisson:
  rate=N        requests per second in all, on average; required
  clients=N     how many clients they come from (1)
  skew=S        how unequal these are: the share of the client of rank r is
                proportional to 1/r^S, Zipf's law (0: all alike)
  wave=W        0 to 1: how far the rate swings over the day, up to 1+W times
                at 15:00 UTC and down to 1-W times at 03:00 (0)
  first=N       the number of the first client (after those of the traffic
                before); say first=1 to let two sources share their clients
Settings of burst:
  size=N        requests in a burst; required
  every=D       from the beginning of one burst to that of the next (only one)
  spread=D      time over which the requests of a burst are spread evenly (0)
  clients=N     who take turns in a burst (1)
  first=N       as above
Settings of retry:
  rate=N        requests per second that each client wants; required. A client
                has one under way at a time, and does not catch up on what it
                could not send meanwhile
  clients=N     how many (1)
  obey=BOOL     true: wait as long as Retry-After says (true)
  after=D       how long to wait if there is no Retry-After, or if obey=false
                (100ms)
  tries=N       how often to try before giving a request up (without end)
  first=N       as above
Settings of flood:
  rate=N        requests per second, on average; required

Settings of all:
  start=D       when it begins, from the start (0)
  for=D         how long it lasts (to the end)
  method=TEXT   (what suits the path; GET if that is given)
  path=TEXT     with its query; {client} is the client's name. (The pages of a
                made-up shop, by Zipf's law: most begin with /api/)
  host=TEXT     (shop.example.com)
  header=N:V    a header and its value, in which {client} is the client's name;
                may be given several times
  status=N      of all responses (most are 200, some 201, 304, 404, 500 and 503)
  latency=D     the median time to the response, whose logarithm is spread
                normally with a deviation of 0.7 (20ms)

D is a time such as 500ms, 1m30s or 1d. A text has no commas.

Client 17 is called client-17 and has the address 10.0.0.17, and so on through
10.0.0.0/8.`
