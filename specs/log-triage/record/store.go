//go:build ignore

// Store is the backing store of the recording: a line "MS N" is answered with
// "N" after MS milliseconds.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:18082", "address to serve on")
	flag.Parse()
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go answer(c)
	}
}

func answer(c net.Conn) {
	defer c.Close()
	for in := bufio.NewScanner(c); in.Scan(); {
		var ms, n int
		if _, err := fmt.Sscanf(in.Text(), "%d %d", &ms, &n); err != nil {
			return
		}
		time.Sleep(time.Duration(ms) * time.Millisecond)
		fmt.Fprintln(c, n)
	}
}
