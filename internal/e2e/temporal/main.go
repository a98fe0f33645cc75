package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// startTime is how long the server may take until it answers.
const startTime = 60 * time.Second

// names is a flag that can be repeated.
type names []string

// String returns the names, separated by commas.
func (n *names) String() string { return strings.Join(*n, ",") }

// Set adds a name.
func (n *names) Set(name string) error { *n = append(*n, name); return nil }

func main() {
	listen := flag.String("listen", "", "address of the frontend, HOST:PORT")
	db := flag.String("db", "", "file of the database, which is created if missing")
	level := flag.String("log", "error", "level of the log: debug, info, warn or error")
	owned := flag.Bool("owned", false, "stop when standard input ends, that is with the process that started this one")
	var namespaces names
	flag.Var(&namespaces, "namespace", "a namespace to create if missing; repeatable")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *owned {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	if err := run(ctx, *listen, *db, *level, namespaces); err != nil {
		slog.Error(err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, listen, db, level string, namespaces []string) error {
	if listen == "" || db == "" || len(namespaces) == 0 {
		return errors.New("-listen, -db and -namespace are required")
	}
	c, err := configuration(listen, db, namespaces)
	if err != nil {
		return err
	}
	server, err := newServer(c, level)
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	if err := awaitReady(ctx, listen, namespaces); err != nil {
		return errors.Join(err, server.Stop())
	}
	fmt.Println("ready")
	<-ctx.Done()
	return server.Stop()
}

func newServer(c *config.Config, level string) (temporal.Server, error) {
	logger := log.NewZapLogger(log.BuildZapLogger(log.Config{Level: level}))
	authorizer, err := authorization.GetAuthorizerFromConfig(&c.Global.Authorization)
	if err != nil {
		return nil, err
	}
	claims, err := authorization.GetClaimMapperFromConfig(&c.Global.Authorization, logger)
	if err != nil {
		return nil, err
	}
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, service := range c.Services {
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(fmt.Sprintf("%s:%d", service.RPC.BindOnIP, service.RPC.GRPCPort))
	}
	return temporal.NewServer(
		temporal.WithConfig(c),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(logger),
		temporal.WithAuthorizer(authorizer),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return claims }),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
			dynamicconfig.NamespaceCacheRefreshInterval.Key():           100 * time.Millisecond,
			dynamicconfig.MatchingEnableFairness.Key():                  true,
		}),
	)
}

// awaitReady waits until the frontend answers for each namespace.
func awaitReady(ctx context.Context, address string, namespaces []string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	if err != nil {
		return err
	}
	defer conn.Close()
	watch, err := grpc_health_v1.NewHealthClient(conn).Watch(ctx, &grpc_health_v1.HealthCheckRequest{Service: "temporal.api.workflowservice.v1.WorkflowService"})
	for status := grpc_health_v1.HealthCheckResponse_UNKNOWN; err == nil && status != grpc_health_v1.HealthCheckResponse_SERVING; {
		var r *grpc_health_v1.HealthCheckResponse
		r, err = watch.Recv()
		status = r.GetStatus()
	}
	for _, name := range namespaces {
		if err == nil {
			_, err = workflowservice.NewWorkflowServiceClient(conn).DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: name})
		}
	}
	return err
}
