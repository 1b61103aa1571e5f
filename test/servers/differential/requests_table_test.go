package differential

import (
	"fmt"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The requests of TestTheRequestsThatReleasesAnswerInTheirOwnWay, in groups. Each group has a root of its own.

func groups(r zkmem.Release) []func(root string) []asked {
	all := []func(string) []asked{hidden, modesOnOnePath, modesInTurn, kindsOfWatches, multis, multisThatFail,
		creates, containers, oddPaths, own, refusedWrites, lists}
	if r == zkmem.Release39 {
		all = append(all, nullInAMulti)
	}
	return all
}

var (
	everybody = []acl{{31, "world", "anyone"}}
	strangers = []acl{{30, "world", "anyone"}} // who may do everything but read
)

func create(path string, list []acl, flags int32) enc {
	return enc{}.str(path).str("").acls(list).i32(flags)
}
func createTTL(path string, flags int32) enc { return create(path, everybody, flags).i64(60000) }
func set(path string) enc                    { return enc{}.str(path).str("x").i32(-1) }
func remove(path string) enc                 { return enc{}.str(path).i32(-1) }
func read(path string, watch bool) enc       { return enc{}.str(path).flag(watch) }
func kind(path string, number int32) enc     { return enc{}.str(path).i32(number) }

// nullACL is a create with an access list that is null.
func nullACL(path string, flags int32) enc { return enc{}.str(path).str("").i32(-1).i32(flags) }

// part is one operation of a multi.
type part struct {
	op   int32
	body enc
}

func together(parts ...part) enc {
	var body enc
	for _, p := range parts {
		body = append(body.i32(p.op).flag(false).i32(-1), p.body...)
	}
	return body.i32(-1).flag(true).i32(-1)
}

// hidden asks about a node that may not be read.
func hidden(root string) []asked {
	path := root + "/hid"
	list := []asked{{0, "", opCreate, create(path, strangers, 0)}}
	for _, r := range []struct {
		op   int32
		body enc
	}{
		{opExists, read(path, false)}, {opExists, read(path, true)}, {opGetData, read(path, false)},
		{opGetACL, enc{}.str(path)},
		{opGetChildren, read(path, false)}, {opGetChildren2, read(path, false)}, {opCountDescendants, enc{}.str(path)},
		{opAddWatch, kind(path, 0)}, {opAddWatch, kind(path, 1)}, {opSync, enc{}.str(path)}, {opSetData, set(path)},
		{opMultiRead, together(part{opGetData, read(path, false)}, part{opGetChildren, read(root, false)})},
		{opMulti, together(part{opCheck, remove(path)})},
	} {
		list = append(list, asked{0, "hidden", r.op, r.body})
	}
	return append(list,
		asked{0, "a stranger's watch on a node that is made hidden", opExists, read(root+"/later", true)},
		asked{1, "", opCreate, create(root+"/later", strangers, 0)},
		asked{0, "the watch was spent", opDelete, remove(root + "/later")}, asked{0, "", opDelete, remove(path)})
}

// modesOnOnePath has watches of several modes on one path.
func modesOnOnePath(root string) []asked {
	path := root + "/w"
	return []asked{
		{0, "", opCreate, create(path, everybody, 0)},
		{1, "recursive", opAddWatch, kind(path, 1)}, {1, "then one-shot", opExists, read(path, true)},
		{0, "the first change", opSetData, set(path)}, {0, "the second", opSetData, set(path)},
		{0, "a child", opCreate, create(path+"/k", everybody, 0)},
		{1, "then persistent", opAddWatch, kind(path, 0)}, {0, "the child changes", opSetData, set(path + "/k")},
		{0, "another child", opCreate, create(path+"/l", everybody, 0)},
		{0, "a grandchild", opCreate, create(path+"/l/m", everybody, 0)},
		{1, "one-shot, of children", opGetChildren, read(path, true)},
		{0, "a third child", opCreate, create(path+"/n", everybody, 0)},
		{0, "a fourth", opCreate, create(path+"/o", everybody, 0)},
		{0, "the third goes", opDelete, remove(path + "/n")},
	}
}

// modesInTurn has each kind of one-shot watch before and after each kind of lasting one.
func modesInTurn(root string) (list []asked) {
	number := 0
	for _, reading := range []int32{opExists, opGetData, opGetChildren} {
		for mode := range int32(2) {
			for _, first := range []bool{false, true} {
				number++
				path := fmt.Sprintf("%s/%d", root, number)
				arm := []asked{{1, "lasting", opAddWatch, kind(path, mode)}, {1, "one-shot", reading, read(path, true)}}
				if first {
					arm[0], arm[1] = arm[1], arm[0]
				}
				list = append(list, asked{0, "", opCreate, create(path, everybody, 0)}, arm[0], arm[1],
					asked{0, "changed", opSetData, set(path)},
					asked{0, "a child", opCreate, create(path+"/k", everybody, 0)},
					asked{0, "changed again", opSetData, set(path)},
					asked{0, "the child goes", opDelete, remove(path + "/k")})
			}
		}
	}
	return list
}

// kindsOfWatches checks and removes watches of every kind, where watches of each mode are.
func kindsOfWatches(root string) (list []asked) {
	for mode := range int32(3) {
		path := fmt.Sprintf("%s/%d", root, mode)
		arm := asked{1, "one-shot", opExists, read(path, true)}
		if mode < 2 {
			arm = asked{1, "lasting", opAddWatch, kind(path, mode)}
		}
		list = append(list, arm)
		for number := range int32(7) {
			list = append(list, asked{1, "", opCheckWatches, kind(path, number)},
				asked{0, "another's", opCheckWatches, kind(path, number)})
		}
		for _, number := range []int32{1, 5, 4, 2, 3} {
			list = append(list, asked{1, "", opRemoveWatches, kind(path, number)}, arm)
		}
		list = append(list, asked{0, "after removals", opCreate, create(path, everybody, 0)})
	}
	for _, path := range []string{"", "nope", null} {
		list = append(list, asked{1, "an odd path", opCheckWatches, enc{}.strOrNull(path).i32(3)})
	}
	return list
}

// multis are those that succeed on one release at least.
func multis(root string) (list []asked) {
	number := 0
	for _, op := range []int32{opCreate, opCreate2, opCreateContainer} {
		for _, flags := range []int32{0, 1, 2, 3, 4} {
			number++
			path := fmt.Sprintf("%s/%d", root, number)
			list = append(list,
				asked{0, fmt.Sprint("flags ", flags), opMulti, together(part{op, create(path, everybody, flags)})},
				asked{0, "", opExists, read(path, false)})
		}
	}
	return append(list,
		asked{0, "create2 and delete", opMulti,
			together(part{opCreate2, create(root+"/m", everybody, 0)}, part{opDelete, remove(root + "/m")})},
		asked{0, "check", opMulti, together(part{opCheck, remove(root)})}, asked{0, "empty", opMulti, together()})
}

// multisThatFail are refused, as a whole or in part, on one release at least.
func multisThatFail(root string) (list []asked) {
	none := part{opDelete, remove(root + "/none")}
	for _, parts := range [][]part{
		{{opCreate, create(root+"/a", everybody, 0)}, none}, {{opCreate2, create(root+"/a", everybody, 0)}, none},
		{{opCreate, create(root+"/b", everybody, 7)}}, {{opCreate, create(root+"/b", everybody, 99)}},
		{{opCreate2, create(root+"/b", everybody, -1)}},
		{none, {opCreate, create(root+"/b", everybody, 99)}}, {{opCreateTTL, createTTL(root+"/c", 5)}},
		{{opCreate, create("x", everybody, 0)}},
		{{opCreate, create(root+"/e", everybody, 1)}, {opCreate, create(root+"/e/x", everybody, 0)}},
		{{opSetData, enc{}.str(root).str("").i32(77)}}, {{opCreate, nullACL(root+"/f", 0)}},
		{none, {opCreate, nullACL(root+"/f", 0)}},
		{{opCreate, create(root+"/f", nil, 0)}}, {{opExists, read(root, false)}},
		{{opDeleteContainer, enc{}.str(root)}},
	} {
		list = append(list, asked{0, "fails", opMulti, together(parts...)})
	}
	return append(list, asked{0, "no end", opMulti, enc{}.i32(opCheck).flag(false).i32(-1)})
}

// nullInAMulti has a path that is null. 3.8 takes a zxid for it that its answer does not name; zkmem names it.
func nullInAMulti(root string) []asked {
	return []asked{{0, "null", opMulti,
		together(part{opCreate, append(enc{}.strOrNull(null), enc{}.str("").acls(everybody).i32(0)...)})},
		{0, "null", opMulti,
			together(part{opDelete, enc{}.strOrNull(null).i32(-1)}, part{opCreate, create(root+"/b", everybody, 99)})},
		{0, "null", opMulti,
			together(part{opDelete, enc{}.strOrNull(null).i32(-1)}, part{opCreate, nullACL(root+"/b", 0)})},
		{0, "after it", opExists, read(root, false)}}
}

// creates are creates of every mode by every operation.
func creates(root string) (list []asked) {
	number := 0
	for _, op := range []int32{opCreate, opCreate2, opCreateContainer, opCreateTTL} {
		for _, flags := range []int32{0, 1, 4, 5, 99} {
			number++
			path := fmt.Sprintf("%s/%d", root, number)
			body := create(path, everybody, flags)
			if op == opCreateTTL {
				body = createTTL(path, flags)
			}
			list = append(list, asked{0, fmt.Sprint("flags ", flags), op, body})
		}
	}
	return append(list, asked{0, "no list", opCreate, nullACL(root+"/n", 0)},
		asked{0, "an empty list", opCreate, create(root+"/n", nil, 0)},
		asked{0, "no data", opCreate, enc{}.str(root + "/d").i32(-1).acls(everybody).i32(0)})
}

// containers are requests to delete them, which are a server's own.
func containers(root string) []asked {
	return []asked{
		{0, "", opCreateContainer, create(root+"/k", everybody, 4)},
		{0, "", opCreate, create(root+"/hid", strangers, 0)},
		{0, "", opCreate, create(root+"/e", everybody, 1)}, {0, "", opCreate, create(root+"/p", everybody, 0)},
		{0, "", opCreate, create(root+"/p/x", everybody, 0)}, {1, "", opExists, read(root+"/k", true)},
		{0, "the root", opDeleteContainer, enc{}.str("/")},
		{0, "a hidden node", opDeleteContainer, enc{}.str(root + "/hid")},
		{0, "an empty container", opDeleteContainer, enc{}.str(root + "/k")},
		{0, "no node", opDeleteContainer, enc{}.str(root + "/none")},
		{0, "no path", opDeleteContainer, enc{}.str("")}, {0, "null", opDeleteContainer, enc{}.strOrNull(null)},
		{0, "an ephemeral node", opDeleteContainer, enc{}.str(root + "/e")},
		{0, "a node with a child", opDeleteContainer, enc{}.str(root + "/p")},
		{0, "nothing", opDeleteContainer, nil}, {0, "alone", opCheck, remove(root)},
		{0, "another version", opCheck, kind(root, 77)}, {0, "no node", opCheck, remove(root + "/none")},
		{0, "after it", opExists, read(root, false)},
	}
}

// oddPaths are requests with paths that are none, and of operations that are none.
func oddPaths(root string) (list []asked) {
	for _, path := range []string{null, "", "x", root + "/\x01", root + "/../x"} {
		named := enc{}.strOrNull(path)
		list = append(list,
			asked{0, "an odd path", opCreate, append(enc{}.strOrNull(path), enc{}.str("").acls(everybody).i32(0)...)},
			asked{0, "an odd path", opGetData, named.flag(false)},
			asked{0, "an odd path", opExists, enc{}.strOrNull(path).flag(true)})
	}
	list = append(list, asked{0, "", opDelete, remove("/")}, asked{0, "", opDelete, remove("/zookeeper")},
		asked{0, "", opSetData, set("/zookeeper/config")},
		asked{0, "", opReconfig, enc{}.i32(-1).i32(-1).i32(-1).i64(-1)}, asked{0, "", opSASL, enc{}.str("")},
		asked{0, "no body", opGetChildren2, nil},
		asked{0, "", opSetWatches, enc{}.i64(0).i32(0).i32(0).i32(0)},
		asked{0, "", opSetWatches2, enc{}.i64(0).i32(0).i32(0).i32(0).i32(0).i32(0)},
		asked{0, "", opAddWatch, kind("/", 2)}, asked{0, "", opAddWatch, kind("/", -1)},
		asked{0, "", opAuth, enc{}.i32(0).str("magic").str("x")},
		asked{0, "", opAuth, enc{}.i32(0).str("digest").str("x")})
	for _, op := range []int32{23, 99, 108, 109, 110, -1} {
		list = append(list, asked{0, fmt.Sprint("operation ", op), op, nil})
	}
	return list
}

// own are requests about what a client has and is.
func own(root string) []asked {
	mine := []acl{{31, "auth", ""}}
	return []asked{
		{0, "", opWhoAmI, nil}, {0, "", opGetEphemerals, enc{}.str("")},
		{0, "", opCreate, create(root+"/e", everybody, 1)},
		{0, "", opGetEphemerals, enc{}.str("")}, {0, "", opGetEphemerals, enc{}.str(root + "/none")},
		{1, "", opGetEphemerals, enc{}.str("")},
		{0, "", opCountDescendants, enc{}.str(root)}, {0, "", opCountDescendants, enc{}.str(root + "/none")},
		{1, "", opAuth, enc{}.i32(0).str("digest").str("u:p")}, {1, "", opWhoAmI, nil},
		{1, "", opCreate, create(root+"/own", mine, 0)},
		{1, "", opGetACL, enc{}.str(root + "/own")}, {0, "a stranger", opGetACL, enc{}.str(root + "/own")},
		{0, "a stranger", opGetData, read(root+"/own", false)}, {0, "a stranger", opExists, read(root+"/own", true)},
		{1, "", opSetData, set(root + "/own")},
	}
}

// refusedWrites are writes that use up a zxid, or do not.
func refusedWrites(root string) []asked {
	return []asked{
		{0, "no path", opCreate, append(enc{}.strOrNull(null), enc{}.str("").acls(everybody).i32(0)...)},
		{0, "", opCreate, create("x", everybody, 0)},
		{0, "", opCreate, create(root, everybody, 0)}, {0, "", opDelete, remove(root + "/none")},
		{0, "", opSetData, set(root + "/none")},
		{0, "", opCreate, create(root+"/f", nil, 0)}, {0, "", opSetACL, enc{}.str("").acls(everybody).i32(-1)},
		{0, "a length beyond the end", opCreate, enc{}.i32(1000)},
		{0, "a negative length", opDelete, enc{}.i32(-7).i32(1)},
		{0, "a length beyond the end", opSetData, enc{}.i32(1000)},
		{0, "a length beyond the end", opSetACL, enc{}.i32(1000)},
		{0, "a length beyond the end", opMulti, enc{}.i32(opDelete).flag(false).i32(-1).i32(1000)},
		{0, "nothing", opCreate, nil},
		{0, "only null", opDelete, enc{}.i32(-1)}, {0, "", opExists, read(root, false)},
	}
}

// lists are access lists of every scheme.
func lists(root string) (list []asked) {
	for _, a := range []acl{{31, "auth", ""}, {31, "digest", "u:x"}, {31, "ip", "127.0.0.1"}, {31, "ip", "bad"},
		{31, "x509", "CN=a"}, {31, "sasl", "u"},
		{31, "super", "u"}, {31, "world", "x"}, {99, "world", "anyone"}, {-1, "world", "anyone"}, {31, "", ""},
		{31, "magic", "u"}, {0, "world", "anyone"}} {
		list = append(list, asked{0, "", opCreate, create(root+"/acl", []acl{a}, 0)},
			asked{0, "", opGetACL, enc{}.str(root + "/acl")},
			asked{0, "", opDelete, remove(root + "/acl")})
	}
	return append(list, asked{0, "", opCloseSession, nil})
}
