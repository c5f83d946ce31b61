# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks on a graph that is trained as a whole, as the examples of the Open
Graph Benchmark (Hu et al. 2020) do: the work follows from nodes and edges.
Where neighbours are drawn it does not."""

# (nodes, edges in both directions without loops, sizes of the layers, norms
# between the layers)
ARXIV = (169343, 2315598, (128, 256, 256, 40), True)
PRODUCTS = (2449029, 123718280, (100, 256, 256, 47), False)


def gather(n, nodes, edges, width):
    """Sum over the edges of a node, one multiplication for each feature."""
    n.add(edges * width, nodes * width, 0, 0)
    n.depthwise += edges * width
    n.last = nodes * width
    n.move((edges + nodes) * width)


def between(n, out, normed):
    """Norm, activation and dropout."""
    if normed:
        n.op(1, 2 * out)
    n.op(2)


def gcn(n, graph):
    """Kipf and Welling 2017, loops included."""
    nodes, edges, sizes, normed = graph
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        n.dense(nodes, a, b, 0)
        gather(n, nodes, edges + nodes, b)
        n.op(1, b)
        if i + 2 < len(sizes):
            between(n, b, normed)


def sage(n, graph):
    """Hamilton et al. 2017: the mean of the neighbours and the node itself,
    each with weights of its own."""
    nodes, edges, sizes, normed = graph
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        gather(n, nodes, edges, a)
        n.dense(nodes, a, b)
        n.dense(nodes, a, b, 0)
        n.op()
        if i + 2 < len(sizes):
            between(n, b, normed)
