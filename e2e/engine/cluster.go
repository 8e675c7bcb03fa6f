package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Cluster is a Redis Cluster of servers without replicas, each of which has a part
// of the slots.
type Cluster struct {
	Nodes []*Redis

	buses []int // where each finds the others
}

// slots is how many a cluster has.
const slots = 16384

// StartCluster starts so many servers, and waits until each of them knows all and
// serves its slots. They listen on 127.0.0.1 only.
func StartCluster(ctx context.Context, nodes int) (*Cluster, error) {
	c := &Cluster{}
	for range nodes {
		if err := c.add(ctx); err != nil {
			return nil, errors.Join(err, c.Stop())
		}
	}
	if err := c.join(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start a redis cluster: %w", err), c.Stop())
	}
	return c, nil
}

// add starts a server whose second port, for the others, is one that is free: left
// to itself it takes the first plus 10000, which may be none.
func (c *Cluster) add(ctx context.Context) error {
	_, err := onPort(0, func(bus int) (*Redis, error) {
		node, err := StartRedis(ctx, RedisOptions{ExtraArgs: []string{"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus)}})
		if err == nil {
			c.Nodes, c.buses = append(c.Nodes, node), append(c.buses, bus)
		}
		return node, err
	})
	return err
}

// join gives each server its slots, and makes it known to the first.
func (c *Cluster) join(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for i, node := range c.Nodes {
		client := redis.NewClient(&redis.Options{Addr: node.Addr})
		defer client.Close()
		first, end := i*slots/len(c.Nodes), (i+1)*slots/len(c.Nodes)
		for _, command := range [][]any{
			{"CLUSTER", "SET-CONFIG-EPOCH", i + 1},
			{"CLUSTER", "ADDSLOTSRANGE", first, end - 1},
			{"CLUSTER", "MEET", "127.0.0.1", c.Nodes[0].Port, c.buses[0]},
		} {
			if err := client.Do(ctx, command...).Err(); err != nil {
				return err
			}
		}
	}
	for _, node := range c.Nodes {
		if err := c.joined(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// joined waits until a server knows that all slots are served, and by whom.
func (c *Cluster) joined(ctx context.Context, node *Redis) error {
	client := redis.NewClient(&redis.Options{Addr: node.Addr})
	defer client.Close()
	for {
		info, err := client.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		if strings.Contains(info, "cluster_state:ok") && strings.Contains(info, fmt.Sprintf("cluster_size:%d\r", len(c.Nodes))) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s knows only %q", node.Addr, info)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Stop stops all servers.
func (c *Cluster) Stop() (err error) {
	for _, node := range c.Nodes {
		err = errors.Join(err, node.Stop())
	}
	return err
}
