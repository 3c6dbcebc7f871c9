//! All other functions of cuBLAS. Each reports its name once, and returns CUBLAS_STATUS_NOT_SUPPORTED.
use crate::blas::status;
use crate::entry;

macro_rules! unsupported {
    ($($name:ident)*) => {$(
        // The functions ignore their arguments, which the C calling convention allows.
        #[unsafe(no_mangle)]
        extern "C" fn $name() -> i32 {
            status(entry(stringify!($name), |runtime| runtime.not_supported(stringify!($name))))
        }
    )*};
}

unsupported! {
    cublasAsumEx cublasAxpyEx cublasCaxpy_v2 cublasCcopy_v2 cublasCdgmm cublasCdotc_v2 cublasCdotu_v2 cublasCgbmv_v2
    cublasCgeam cublasCgelsBatched cublasCgemm3m cublasCgemm3mBatched cublasCgemm3mEx cublasCgemm3mStridedBatched
    cublasCgemmBatched cublasCgemmEx cublasCgemmStridedBatched cublasCgemm_v2 cublasCgemvBatched
    cublasCgemvStridedBatched cublasCgemv_v2 cublasCgeqrfBatched cublasCgerc_v2 cublasCgeru_v2 cublasCgetrfBatched
    cublasCgetriBatched cublasCgetrsBatched cublasChbmv_v2 cublasChemm_v2 cublasChemv_v2 cublasCher2_v2
    cublasCher2k_v2 cublasCher_v2 cublasCherk3mEx cublasCherkEx cublasCherk_v2 cublasCherkx cublasChpmv_v2
    cublasChpr2_v2 cublasChpr_v2 cublasCmatinvBatched cublasCopyEx cublasCrot_v2 cublasCrotg_v2 cublasCscal_v2
    cublasCsrot_v2 cublasCsscal_v2 cublasCswap_v2 cublasCsymm_v2 cublasCsymv_v2 cublasCsyr2_v2 cublasCsyr2k_v2
    cublasCsyr_v2 cublasCsyrk3mEx cublasCsyrkEx cublasCsyrk_v2 cublasCsyrkx cublasCtbmv_v2 cublasCtbsv_v2
    cublasCtpmv_v2 cublasCtpsv_v2 cublasCtpttr cublasCtrmm_v2 cublasCtrmv_v2 cublasCtrsmBatched cublasCtrsm_v2
    cublasCtrsv_v2 cublasCtrttp cublasDdgmm cublasDgbmv_v2 cublasDgeam cublasDgelsBatched cublasDgemmGroupedBatched
    cublasDgemvBatched cublasDgemvStridedBatched cublasDgeqrfBatched cublasDger_v2 cublasDgetrfBatched
    cublasDgetriBatched cublasDgetrsBatched cublasDmatinvBatched cublasDotEx cublasDotcEx cublasDrot_v2 cublasDrotg_v2
    cublasDrotm_v2 cublasDrotmg_v2 cublasDsbmv_v2 cublasDspmv_v2 cublasDspr2_v2 cublasDspr_v2 cublasDsymm_v2
    cublasDsymv_v2 cublasDsyr2_v2 cublasDsyr2k_v2 cublasDsyr_v2 cublasDsyrk_v2 cublasDsyrkx cublasDtbmv_v2
    cublasDtbsv_v2 cublasDtpmv_v2 cublasDtpsv_v2 cublasDtpttr cublasDtrmm_v2 cublasDtrmv_v2 cublasDtrsmBatched
    cublasDtrsm_v2 cublasDtrsv_v2 cublasDtrttp cublasDzasum_v2 cublasDznrm2_v2 cublasGemmBatchedEx cublasGemmEx
    cublasGemmGroupedBatchedEx cublasGemmStridedBatchedEx cublasGetCudartVersion cublasGetLoggerCallback
    cublasGetProperty cublasGetSmCountTarget cublasHSHgemvBatched cublasHSHgemvStridedBatched cublasHSSgemvBatched
    cublasHSSgemvStridedBatched cublasHgemm cublasHgemmBatched cublasHgemmStridedBatched cublasIamaxEx cublasIaminEx
    cublasIcamax_v2 cublasIcamin_v2 cublasIdamax_v2 cublasIdamin_v2 cublasIsamax_v2 cublasIsamin_v2 cublasIzamax_v2
    cublasIzamin_v2 cublasLoggerConfigure cublasNrm2Ex cublasRotEx cublasRotgEx cublasRotmEx cublasRotmgEx
    cublasScalEx cublasScasum_v2 cublasScnrm2_v2 cublasSdgmm cublasSetLoggerCallback cublasSetSmCountTarget
    cublasSgbmv_v2 cublasSgeam cublasSgelsBatched cublasSgemmEx cublasSgemmGroupedBatched cublasSgemvBatched
    cublasSgemvStridedBatched cublasSgeqrfBatched cublasSger_v2 cublasSgetrfBatched cublasSgetriBatched
    cublasSgetrsBatched cublasSmatinvBatched cublasSrot_v2 cublasSrotg_v2 cublasSrotm_v2 cublasSrotmg_v2
    cublasSsbmv_v2 cublasSspmv_v2 cublasSspr2_v2 cublasSspr_v2 cublasSsymm_v2 cublasSsymv_v2 cublasSsyr2_v2
    cublasSsyr2k_v2 cublasSsyr_v2 cublasSsyrk_v2 cublasSsyrkx cublasStbmv_v2 cublasStbsv_v2 cublasStpmv_v2
    cublasStpsv_v2 cublasStpttr cublasStrmm_v2 cublasStrmv_v2 cublasStrsmBatched cublasStrsm_v2 cublasStrsv_v2
    cublasStrttp cublasSwapEx cublasTSSgemvBatched cublasTSSgemvStridedBatched cublasTSTgemvBatched
    cublasTSTgemvStridedBatched cublasUint8gemmBias cublasXerbla cublasZaxpy_v2 cublasZcopy_v2 cublasZdgmm
    cublasZdotc_v2 cublasZdotu_v2 cublasZdrot_v2 cublasZdscal_v2 cublasZgbmv_v2 cublasZgeam cublasZgelsBatched
    cublasZgemm3m cublasZgemmBatched cublasZgemmStridedBatched cublasZgemm_v2 cublasZgemvBatched
    cublasZgemvStridedBatched cublasZgemv_v2 cublasZgeqrfBatched cublasZgerc_v2 cublasZgeru_v2 cublasZgetrfBatched
    cublasZgetriBatched cublasZgetrsBatched cublasZhbmv_v2 cublasZhemm_v2 cublasZhemv_v2 cublasZher2_v2
    cublasZher2k_v2 cublasZher_v2 cublasZherk_v2 cublasZherkx cublasZhpmv_v2 cublasZhpr2_v2 cublasZhpr_v2
    cublasZmatinvBatched cublasZrot_v2 cublasZrotg_v2 cublasZscal_v2 cublasZswap_v2 cublasZsymm_v2 cublasZsymv_v2
    cublasZsyr2_v2 cublasZsyr2k_v2 cublasZsyr_v2 cublasZsyrk_v2 cublasZsyrkx cublasZtbmv_v2 cublasZtbsv_v2
    cublasZtpmv_v2 cublasZtpsv_v2 cublasZtpttr cublasZtrmm_v2 cublasZtrmv_v2 cublasZtrsmBatched cublasZtrsm_v2
    cublasZtrsv_v2 cublasZtrttp
}
