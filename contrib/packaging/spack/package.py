# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipe for Spack: var/spack/repos/builtin/packages/dlest/package.py."""

from spack.package import *


class Dlest(AutotoolsPackage):
    """Estimates and measures the energy of training and running deep-learning
    models, with prediction intervals."""

    homepage = "@PACKAGE_URL@"
    url = "@PACKAGE_URL@/releases/dlest-1.0.0.tar.gz"

    license("GPL-3.0-or-later", checked_by="dlest")

    # spack checksum dlest
    version("1.0.0", sha256="0" * 64)

    variant("onnx", default=False, description="Read ONNX models")
    variant("microhttpd", default=True, description="Live page of recordings")
    variant("plot", default=False, description="Draw with gnuplot")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("gsl@2.5:")
    depends_on("jansson@2.13:")
    depends_on("libxml2@2.9:")
    depends_on("xxhash@0.8:")
    depends_on("libmicrohttpd@0.9.71:", when="+microhttpd")
    depends_on("protobuf-c@1.3:", when="+onnx")
    depends_on("onnx", type="build", when="+onnx")
    depends_on("gnuplot@5:", type="run", when="+plot")

    extends("python@3.8:", type="run")

    def configure_args(self):
        """Options of configure."""
        args = self.with_or_without("onnx") + \
            self.with_or_without("microhttpd")
        if self.spec.satisfies("+onnx"):
            args.append("--with-onnx-proto={0}".format(
                join_path(self.spec["onnx"].prefix.include, "onnx",
                          "onnx.proto")))
        return args

    @run_after("install")
    def install_python(self):
        """The package of Python."""
        install_tree("python/dlest", join_path(python_purelib, "dlest"))

    def check(self):
        """The tests that take minutes are left out."""
        make("check-quick")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """An estimate by the installed program."""
        Executable(self.prefix.bin.dlest)(
            "predict", "--arch", "resnet50", "--gpu", "a100")
