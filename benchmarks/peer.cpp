// Pinocchio's dynamics in loops over states: what the benchmarks time beside kineta.
// The robot comes as text (see peer.py): one joint a line, with its type, parent, placement, axis and inertia.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

using namespace pinocchio;
using Rows = Eigen::Map<const Eigen::VectorXd>;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Robot
{
  Model model;
  Data data;
};

static JointModel joint(const std::string & type, const Eigen::Vector3d & axis)
{
  if (type == "FreeFlyer") return JointModelFreeFlyer();
  if (type == "RX") return JointModelRX();
  if (type == "RY") return JointModelRY();
  if (type == "RZ") return JointModelRZ();
  if (type == "PX") return JointModelPX();
  if (type == "PY") return JointModelPY();
  if (type == "PZ") return JointModelPZ();
  if (type == "R") return JointModelRevoluteUnaligned(axis);
  if (type == "P") return JointModelPrismaticUnaligned(axis);
  throw std::runtime_error("joint type " + type);
}

extern "C" {

Robot * robot_new(const char * text)
{
  std::istringstream in(text);
  Model model;
  Eigen::Vector3d gravity;
  in >> gravity[0] >> gravity[1] >> gravity[2];
  model.gravity.linear() = gravity;
  std::string type;
  for (int i = 1, parent; in >> type >> parent; ++i)
  {
    Eigen::Vector3d axis, position, com;
    Eigen::Matrix3d rotation, inertia;
    double mass;
    for (int k = 0; k < 3; ++k) in >> axis[k];
    for (int k = 0; k < 3; ++k) in >> position[k];
    for (int k = 0; k < 9; ++k) in >> rotation(k / 3, k % 3);
    in >> mass;
    for (int k = 0; k < 3; ++k) in >> com[k];
    for (int k = 0; k < 9; ++k) in >> inertia(k / 3, k % 3);
    const auto id = model.addJoint(parent, joint(type, axis), SE3(rotation, position), "joint" + std::to_string(i));
    model.appendBodyToJoint(id, Inertia(mass, com, inertia));
  }
  Robot * robot = new Robot{model, Data(model)};
  return robot;
}

void robot_delete(Robot * robot) { delete robot; }

void robot_aba(Robot * r, int64_t n, const double * q, const double * v, const double * tau, double * out, int world)
{
  const int nq = r->model.nq, nv = r->model.nv;
  const Convention convention = world ? Convention::WORLD : Convention::LOCAL;
  for (int64_t i = 0; i < n; ++i)
    Eigen::Map<Eigen::VectorXd>(out + i * nv, nv) =
      aba(r->model, r->data, Rows(q + i * nq, nq), Rows(v + i * nv, nv), Rows(tau + i * nv, nv), convention);
}

void robot_rnea(Robot * r, int64_t n, const double * q, const double * v, const double * vdot, double * out, int)
{
  const int nq = r->model.nq, nv = r->model.nv;
  for (int64_t i = 0; i < n; ++i)
    Eigen::Map<Eigen::VectorXd>(out + i * nv, nv) =
      rnea(r->model, r->data, Rows(q + i * nq, nq), Rows(v + i * nv, nv), Rows(vdot + i * nv, nv));
}

// Pinocchio fills the upper triangle; it is left so, which favours it.
void robot_crba(Robot * r, int64_t n, const double * q, const double *, const double *, double * out, int world)
{
  const int nq = r->model.nq, nv = r->model.nv;
  const Convention convention = world ? Convention::WORLD : Convention::LOCAL;
  for (int64_t i = 0; i < n; ++i)
    Eigen::Map<Eigen::MatrixXd>(out + i * nv * nv, nv, nv) = crba(r->model, r->data, Rows(q + i * nq, nq), convention);
}

// The derivatives of aba by q, v and tau; of the symmetric one Pinocchio fills the upper triangle.
void robot_aba_derivatives(
  Robot * r, int64_t n, const double * q, const double * v, const double * tau, double * out, int)
{
  const int nq = r->model.nq, nv = r->model.nv;
  for (int64_t i = 0; i < n; ++i)
  {
    computeABADerivatives(r->model, r->data, Rows(q + i * nq, nq), Rows(v + i * nv, nv), Rows(tau + i * nv, nv));
    Eigen::Map<RowMajor>(out + 3 * i * nv * nv, nv, nv) = r->data.ddq_dq;
    Eigen::Map<RowMajor>(out + (3 * i + 1) * nv * nv, nv, nv) = r->data.ddq_dv;
    Eigen::Map<RowMajor>(out + (3 * i + 2) * nv * nv, nv, nv) = r->data.Minv;
  }
}

// The derivatives of rnea by q, v, and the mass matrix, of which Pinocchio fills the upper triangle.
void robot_rnea_derivatives(
  Robot * r, int64_t n, const double * q, const double * v, const double * vdot, double * out, int)
{
  const int nq = r->model.nq, nv = r->model.nv;
  for (int64_t i = 0; i < n; ++i)
  {
    computeRNEADerivatives(r->model, r->data, Rows(q + i * nq, nq), Rows(v + i * nv, nv), Rows(vdot + i * nv, nv));
    Eigen::Map<RowMajor>(out + 3 * i * nv * nv, nv, nv) = r->data.dtau_dq;
    Eigen::Map<RowMajor>(out + (3 * i + 1) * nv * nv, nv, nv) = r->data.dtau_dv;
    Eigen::Map<RowMajor>(out + (3 * i + 2) * nv * nv, nv, nv) = r->data.M;
  }
}
}
