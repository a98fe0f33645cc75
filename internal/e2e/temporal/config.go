package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/schema/sqlite"
)

const (
	host        = "127.0.0.1" // of the services inside
	clusterName = "active"
)

// configuration returns the configuration of a server. It creates what is missing of the database.
func configuration(listen, db string, namespaces []string) (*config.Config, error) {
	frontendHost, text, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	store, err := database(db, namespaces)
	if err != nil {
		return nil, err
	}
	services, err := services(frontendHost, port)
	if err != nil {
		return nil, err
	}
	c := &config.Config{
		Global: config.Global{Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: host}},
		Persistence: config.Persistence{
			DefaultStore: "sqlite", VisibilityStore: "sqlite", NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{"sqlite": {SQL: store}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: listen},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            services,
		PublicClient:        config.PublicClient{HostPort: listen},
	}
	const disabled = "disabled"
	c.Archival.History.State, c.Archival.Visibility.State = disabled, disabled
	c.NamespaceDefaults.Archival.History.State, c.NamespaceDefaults.Archival.Visibility.State = disabled, disabled
	return c, nil
}

// database returns the configuration of a database that has its tables and namespaces.
func database(file string, namespaces []string) (*config.SQL, error) {
	c := &config.SQL{
		PluginName: sqliteplugin.PluginName, DatabaseName: file,
		ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "off"},
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if err := sqlite.SetupSchema(c); err != nil {
			return nil, err
		}
	}
	for _, name := range namespaces {
		n, err := sqlite.NewNamespaceConfig(clusterName, name, false, nil)
		if err == nil {
			err = sqlite.CreateNamespaces(c, n)
		}
		if err != nil {
			return nil, fmt.Errorf("namespace %s: %w", name, err)
		}
	}
	return c, nil
}

// services returns the four services: the frontend at a given address, the others at free ports.
func services(frontendHost string, frontendPort int) (map[string]config.Service, error) {
	out := map[string]config.Service{
		string(primitives.FrontendService): {RPC: config.RPC{GRPCPort: frontendPort, BindOnIP: frontendHost}},
	}
	for _, name := range []primitives.ServiceName{primitives.HistoryService, primitives.MatchingService, primitives.WorkerService} {
		l, err := net.Listen("tcp", host+":0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all are open at once, so that the ports differ
		out[string(name)] = config.Service{RPC: config.RPC{GRPCPort: l.Addr().(*net.TCPAddr).Port, BindOnIP: host}}
	}
	return out, nil
}
