"""What kazoo's tests use of the package objgraph: the number of objects of a type."""
import gc


def count(typename):
    return sum(1 for o in gc.get_objects() if type(o).__name__ == typename)
